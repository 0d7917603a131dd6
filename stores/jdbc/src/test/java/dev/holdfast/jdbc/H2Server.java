package dev.holdfast.jdbc;

import dev.holdfast.testbed.ServerProcess;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.h2.tools.Server;

/** An H2 server in a process of its own, with its databases in a private folder: to kill and to start again. */
final class H2Server implements AutoCloseable {
    private final ServerProcess process;

    private H2Server(ServerProcess process) {
        this.process = process;
    }

    /** Starts one that creates databases when they are first named. */
    static H2Server start(Map<String, String> environment) {
        ServerProcess.Builder process = ServerProcess.named("h2")
                .command(home ->
                        command(home.port(), home.folder().resolve("data").toString()))
                .readyWhenLogContains("TCP server running");
        environment.forEach(process::environment);
        return new H2Server(process.start());
    }

    private static List<String> command(int port, String folder) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Xmx128m",
                "-Dh2.bindAddress=127.0.0.1",
                "-cp",
                System.getProperty("java.class.path"),
                Server.class.getName(),
                "-tcp",
                "-tcpPort",
                Integer.toString(port),
                "-ifNotExists",
                "-baseDir",
                folder);
    }

    ServerProcess process() {
        return process;
    }

    /** The address of a database there. */
    String url(String database) {
        return "jdbc:h2:tcp://127.0.0.1:" + process.port() + "/./" + database;
    }

    @Override
    public void close() {
        process.close();
    }
}
