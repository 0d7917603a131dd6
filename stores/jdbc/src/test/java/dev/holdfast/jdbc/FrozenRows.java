package dev.holdfast.jdbc;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.tck.FrozenLayout;
import dev.holdfast.tck.FrozenLayout.Clock;
import dev.holdfast.tck.FrozenTablesContract;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The layout of 0.1.0 in the rows of a server. */
abstract class FrozenRows extends FrozenTablesContract {
    abstract ServerDialect dialect();

    protected abstract String url();

    @Override
    protected FrozenLayout layout() {
        return FrozenLayout.read("0.1.0/" + dialect().names().get(0) + ".sql", Map.of("now", Clock.micros()));
    }

    @Override
    protected Connection connect() throws SQLException {
        return DriverManager.getConnection(url());
    }

    @Override
    protected List<String> creation() {
        List<String> all = new ArrayList<>(dialect().createTable("holdfast_lock"));
        all.addAll(dialect().createRecords("holdfast_lock_record"));
        all.add(FenceSql.of(dialect().names().get(0), "holdfast_fence").create());
        return all;
    }

    @Override
    protected List<String> tables() {
        return List.of("holdfast_lock", "holdfast_lock_record", "holdfast_fence");
    }

    /** Where a client hears that it is its turn. */
    @Override
    protected Map<String, String> own() {
        return Map.of("channel", "gone");
    }

    @Override
    protected Store open(StoreContext context) {
        return new JdbcStoreProvider().open(url(), context);
    }

    @Override
    protected StoreFence fence() {
        return new JdbcStoreProvider().openFence(url(), Optional.empty());
    }

    /** What is offered to the first in the queue is kept for it that long. */
    @Override
    protected Duration turn() {
        return Duration.ofNanos(LockTransition.OFFER_MICROS * 1_000);
    }
}
