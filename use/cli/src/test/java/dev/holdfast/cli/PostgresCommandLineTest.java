package dev.holdfast.cli;

import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

/** What the command line says of PostgreSQL. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("thorough")
class PostgresCommandLineTest extends CommandLineContract {
    @Started
    private static PostgresServer server;

    @Override
    protected String emptyStore(Path folder) {
        Database.run(server.jdbcUrl(), "DROP TABLE IF EXISTS holdfast_lock");
        return server.jdbcUrl();
    }

    @Override
    protected boolean plantForeignRecord(String url, String name) {
        Database.run(url, "UPDATE holdfast_lock SET sharing = 'nonsense' WHERE name = '" + name + "'");
        return true;
    }

    @Override
    protected String unreachableStore(Path folder) {
        return "jdbc:postgresql://127.0.0.1:" + Ports.free() + "/postgres?user=me&password=s3cret";
    }

    @Override
    protected String shown(String url) {
        return url.replaceFirst("\\?.*", "");
    }

    @Override
    protected String table() {
        return ", table public.holdfast_lock";
    }
}
