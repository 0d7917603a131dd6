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

    /** Of the server. */
    protected abstract String url();

    /** Of the store. */
    protected String storeUrl() {
        return url();
    }

    /** The file's, without its ending. */
    String name() {
        return dialect().names().get(0);
    }

    List<String> createTable() {
        return dialect().createTable("holdfast_lock");
    }

    @Override
    protected FrozenLayout layout() {
        return FrozenLayout.read("0.1.0/" + name() + ".sql", Map.of("now", Clock.micros()));
    }

    @Override
    protected Connection connect() throws SQLException {
        return DriverManager.getConnection(url());
    }

    @Override
    protected List<String> creation() {
        List<String> all = new ArrayList<>(createTable());
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
        return new JdbcStoreProvider().open(storeUrl(), context);
    }

    @Override
    protected StoreFence fence() {
        return new JdbcStoreProvider().openFence(storeUrl(), Optional.empty());
    }

    /** What is offered to the first in the queue is kept for it that long. */
    @Override
    protected Duration turn() {
        return Duration.ofNanos(LockTransition.OFFER_MICROS * 1_000);
    }
}
