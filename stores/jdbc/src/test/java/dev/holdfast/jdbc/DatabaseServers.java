package dev.holdfast.jdbc;

import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.ServerMissingException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Assumptions;

/** Servers for tests: where there is none the test is skipped, in CI it fails. */
final class DatabaseServers {
    private DatabaseServers() {}

    static PostgresServer postgres(String... options) {
        return orSkip(() -> PostgresServer.start(options));
    }

    static <T> T orSkip(Supplier<T> start) {
        try {
            return start.get();
        } catch (ServerMissingException e) {
            if (e.isFailure()) {
                throw e;
            }
            return Assumptions.abort(e.getMessage());
        }
    }
}
