package dev.holdfast.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A real PostgreSQL on a private port and folder of this machine, with the durability it has by default. The superuser
 * {@code postgres} may come in without a password; the database is {@code postgres}.
 *
 * <pre>{@code
 * try (PostgresServer postgres = PostgresServer.start("-c", "max_connections=300");
 *         Connection connection = DriverManager.getConnection(postgres.jdbcUrl())) {
 *     postgres.process().kill();
 *     postgres.process().restart();
 * }
 * }</pre>
 *
 * <p>PostgreSQL refuses to run as root; there it runs in a user namespace of its own ({@code unshare -U}). Thread-safe
 * as its {@link ServerProcess} is.
 */
public final class PostgresServer extends LocalServer {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private PostgresServer(ServerProcess process) {
        super(process);
    }

    /**
     * Makes a database, starts a server and returns when it answers.
     *
     * @param options more options of the command line, which win over those set here
     * @throws ServerMissingException when there is no PostgreSQL on this machine
     */
    public static PostgresServer start(String... options) {
        return start(Map.of(), options);
    }

    /**
     * As {@link #start(String...)}.
     *
     * @param environment variables besides those of this JVM, as a {@link ServerClock} needs
     */
    public static PostgresServer start(Map<String, String> environment, String... options) {
        Path programs = Binaries.onThisMachine().postgresPrograms();
        List<String> more = List.of(options);
        ServerProcess.Builder process = ServerProcess.named("postgres")
                .prepare(home -> EmptyDatabases.copyTo(home, programs, original -> makeDatabase(programs, original)))
                .command(home -> command(programs, home, more))
                .readyWhenLogContains("database system is ready to accept connections")
                .patience(PATIENCE);
        environment.forEach(process::environment);
        return new PostgresServer(process.start());
    }

    /**
     * Copies a server that does not run, as after {@link ServerProcess#terminate}, and starts the copy as its replica: it
     * takes no writes until {@code SELECT pg_promote()}.
     *
     * @param primary to be restarted when this has returned
     * @param port where the replica finds the primary: its own port, or that of a proxy before it
     * @throws ServerMissingException when there is no PostgreSQL on this machine
     */
    public static PostgresServer replicaOf(PostgresServer primary, int port) {
        Path programs = Binaries.onThisMachine().postgresPrograms();
        List<String> more = List.of("-c", "primary_conninfo=host=127.0.0.1 port=" + port + " user=postgres");
        return new PostgresServer(ServerProcess.named("postgres-replica")
                .prepare(home -> {
                    Path data = EmptyDatabases.data(home);
                    Folders.copy(EmptyDatabases.data(primary.process().home()), data);
                    Folders.touch(data.resolve("standby.signal"));
                })
                .command(home -> command(programs, home, more))
                .readyWhenLogContains("ready to accept read") // "read-only connections", or as a primary later
                .patience(PATIENCE)
                .start());
    }

    /** Its address with the user, as {@code jdbc:postgresql://127.0.0.1:20304/postgres?user=postgres}. */
    public String jdbcUrl() {
        return "jdbc:postgresql://127.0.0.1:" + port() + "/postgres?user=postgres";
    }

    private static void makeDatabase(Path programs, ServerHome home) {
        Setup.run(
                home,
                PATIENCE,
                asPlainUser(
                        programs.resolve("initdb").toString(),
                        "--pgdata=" + data(home),
                        "--username=postgres",
                        "--auth=trust",
                        "--encoding=UTF8",
                        "--locale=C",
                        "--no-sync"));
    }

    private static List<String> command(Path programs, ServerHome home, List<String> more) {
        List<String> command = new ArrayList<>(asPlainUser(
                programs.resolve("postgres").toString(),
                "-D",
                data(home),
                "-p",
                Integer.toString(home.port()),
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "unix_socket_directories=" + home.folder()));
        command.addAll(more);
        return command;
    }

    private static String data(ServerHome home) {
        return EmptyDatabases.data(home).toString();
    }

    private static List<String> asPlainUser(String... command) {
        List<String> line = new ArrayList<>();
        if (Setup.isRoot()) {
            line.addAll(List.of("unshare", "-U"));
        }
        line.addAll(List.of(command));
        return line;
    }

    /** The folder in which {@code postgres} really lies, with {@code initdb} beside it. */
    static Path folderOf(Path program) {
        try {
            Path real = program.toRealPath();
            return real.resolveSibling("");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot follow " + program, e);
        }
    }
}
