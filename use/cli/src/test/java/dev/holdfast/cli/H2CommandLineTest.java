package dev.holdfast.cli;

import dev.holdfast.testbed.Ports;
import java.nio.file.Path;
import java.sql.SQLException;
import org.h2.tools.Server;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** What the command line says of an H2 server. */
@Tag("engine-in-another-class")
@Tag("processes-in-another-class")
@Tag("thorough")
class H2CommandLineTest extends CommandLineContract {
    private static Server server;

    @BeforeAll
    static void startServer() throws SQLException {
        server = Server.createTcpServer("-tcpPort", Integer.toString(Ports.free()), "-ifNotExists")
                .start();
    }

    @AfterAll
    static void stopServer() {
        server.stop();
    }

    @Override
    protected String emptyStore(Path folder) {
        return "jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/" + folder.resolve("locks");
    }

    @Override
    protected boolean plantForeignRecord(String url, String name) {
        Database.run(url, "UPDATE holdfast_lock SET sharing = 'nonsense' WHERE name = STRINGTOUTF8('" + name + "')");
        return true;
    }

    @Override
    protected String unreachableStore(Path folder) {
        return "jdbc:h2:tcp://127.0.0.1:" + Ports.free() + "/locks;USER=me;PASSWORD=s3cret";
    }

    @Override
    protected String table() {
        return ", table PUBLIC.holdfast_lock";
    }
}
