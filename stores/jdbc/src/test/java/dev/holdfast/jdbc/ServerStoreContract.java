package dev.holdfast.jdbc;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.StoreContract;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** The contract on a database server, reached by URL. */
abstract class ServerStoreContract extends StoreContract {
    protected abstract String jdbcUrl();

    @Override
    protected Store open(StoreContext context) {
        return new JdbcStoreProvider().open(jdbcUrl(), context);
    }

    @Override
    protected Optional<String> url() {
        return Optional.of(jdbcUrl());
    }

    /** Child processes renew on a machine that others use too. */
    @Override
    protected Duration lease() {
        return Duration.ofMillis(500);
    }

    @Override
    protected OptionalLong records() throws SQLException {
        return OptionalLong.of(Sql.number(jdbcUrl(), "SELECT count(*) FROM holdfast_lock"));
    }

    /** A row for an hour. */
    @Override
    protected long recordsKept(long names) {
        return names;
    }

    @Override
    protected Set<String> expectedSkips() {
        return Set.of("Leases.aGrantOfASessionStandsWhileTheSessionLivesAndEndsWithIt");
    }
}
