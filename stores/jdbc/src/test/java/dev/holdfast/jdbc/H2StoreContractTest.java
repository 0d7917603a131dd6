package dev.holdfast.jdbc;

import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/**
 * H2 in a file of this process: no other process reaches it. For {@code ./verify --all}: everyday, {@link H2FuzzTest} and
 * {@link H2ServerTest} ask H2. The engine has the same rows below it in {@link PostgresEngineContractTest} and
 * {@link MariaDbEngineContractTest}.
 */
@Tag("engine-in-another-class")
@Tag("thorough")
class H2StoreContractTest extends ServerStoreContract {
    @TempDir
    Path folder;

    @Override
    protected String jdbcUrl() {
        return "jdbc:h2:" + folder.resolve("locks");
    }

    @Override
    protected Optional<String> url() {
        return Optional.empty();
    }

    @Override
    protected Set<String> expectedSkips() {
        return Set.of(
                "Leases.aGrantOfASessionStandsWhileTheSessionLivesAndEndsWithIt",
                "Outages",
                "ClientOutages",
                "Processes",
                "OnceProcesses",
                "SharedProcesses");
    }
}
