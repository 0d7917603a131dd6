package dev.holdfast.jdbc;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.StoreContract;
import java.sql.SQLException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** The contract for locks that end with a session of the server. They are exclusive. */
abstract class SessionContract extends StoreContract {
    /** Of the server, with parameters already. */
    protected abstract String serverUrl();

    @Override
    protected Optional<String> url() {
        return Optional.of(serverUrl() + "&mode=session");
    }

    @Override
    protected Store open(StoreContext context) {
        return new JdbcStoreProvider().open(url().orElseThrow(), context);
    }

    @Override
    protected OptionalLong records() throws SQLException {
        return OptionalLong.of(Sql.number(serverUrl(), "SELECT count(*) FROM holdfast_lock_session"));
    }

    /** A row for each name, for ever. */
    @Override
    protected long recordsKept(long names) {
        return names;
    }

    /** What is asked of leases, of readers and permits, and of records. */
    @Override
    protected Set<String> expectedSkips() {
        Set<String> skips = with(
                SKIPS_WITHOUT_LEASES,
                "Grants.aClaimOfAnotherThreadDoesNotOvertakeAReleaseThatIsAboutToBeSent",
                "OnceProcesses",
                "Onces");
        skips.addAll(SKIPS_WITHOUT_SHARING);
        return skips;
    }
}
