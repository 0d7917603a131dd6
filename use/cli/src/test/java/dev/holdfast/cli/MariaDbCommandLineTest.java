package dev.holdfast.cli;

import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.Started;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Tag;

/** What the command line says of MariaDB. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("thorough")
class MariaDbCommandLineTest extends CommandLineContract {
    @Started
    private static MariaDbServer server;

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
        return "jdbc:mariadb://127.0.0.1:" + Ports.free() + "/test?user=me&password=s3cret";
    }

    @Override
    protected String shown(String url) {
        return url.replaceFirst("\\?.*", "");
    }

    @Override
    protected Optional<GuardedStore> guardedStore(Path folder) {
        Database.run(server.jdbcUrl(), "CREATE OR REPLACE USER guard@'127.0.0.1' IDENTIFIED BY 'a b&c=d'");
        Database.run(server.jdbcUrl(), "GRANT ALL ON test.* TO guard@'127.0.0.1'");
        return Optional.of(new GuardedStore(server.jdbcUrl().replace("user=root", "user=guard"), "a b&c=d"));
    }

    @Override
    protected String table() {
        return ", table test.holdfast_lock";
    }
}
