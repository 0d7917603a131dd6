package dev.holdfast.testbed;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A real MariaDB on a private port and folder of this machine, with the durability it has by default. The user
 * {@code root} may come in without a password; the database is {@code test}.
 *
 * <pre>{@code
 * try (MariaDbServer mariadb = MariaDbServer.start("--max-connections=300");
 *         Connection connection = DriverManager.getConnection(mariadb.jdbcUrl())) {
 *     mariadb.process().stop();
 *     mariadb.process().cont();
 * }
 * }</pre>
 *
 * <p>Thread-safe as its {@link ServerProcess} is.
 */
public final class MariaDbServer extends LocalServer {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** Each server gets a copy, and the usual one has 96 MB. */
    private static final String SMALL_LOG = "--innodb-log-file-size=32M";

    private static final String HOW_TO_GET = "apt-get install mariadb-server-core mariadb-client-core";

    private MariaDbServer(ServerProcess process) {
        super(process);
    }

    /**
     * Makes a database, starts a server and returns when it answers.
     *
     * @param options more options of the command line, which win over those set here
     * @throws ServerMissingException when there is no MariaDB on this machine
     */
    public static MariaDbServer start(String... options) {
        return start(Map.of(), options);
    }

    /**
     * As {@link #start(String...)}.
     *
     * @param environment variables besides those of this JVM, as a {@link ServerClock} needs
     */
    public static MariaDbServer start(Map<String, String> environment, String... options) {
        Path server = Binaries.onThisMachine().findInstalled("mariadbd", HOW_TO_GET);
        Path installer = Binaries.onThisMachine().findInstalled("mariadb-install-db", HOW_TO_GET);
        List<String> more = List.of(options);
        ServerProcess.Builder process = ServerProcess.named("mariadb")
                .prepare(home -> EmptyDatabases.copyTo(home, installer, original -> makeDatabase(installer, original)))
                .command(home -> command(server, home, more))
                .readyWhenLogContains("ready for connections")
                .patience(PATIENCE);
        environment.forEach(process::environment);
        return new MariaDbServer(process.start());
    }

    /** Its address with the user, as {@code jdbc:mariadb://127.0.0.1:20304/test?user=root}. */
    public String jdbcUrl() {
        return "jdbc:mariadb://127.0.0.1:" + port() + "/test?user=root";
    }

    private static void makeDatabase(Path installer, ServerHome home) {
        List<String> command = new ArrayList<>(List.of(installer.toString(), "--no-defaults"));
        command.addAll(user());
        command.addAll(List.of(
                "--datadir=" + data(home),
                ownTemporaryFiles(home),
                SMALL_LOG,
                "--auth-root-authentication-method=normal"));
        Setup.run(home, PATIENCE, command);
    }

    private static List<String> command(Path server, ServerHome home, List<String> more) {
        List<String> command = new ArrayList<>(List.of(server.toString(), "--no-defaults"));
        command.addAll(user());
        command.addAll(List.of(
                "--datadir=" + data(home),
                ownTemporaryFiles(home),
                "--port=" + home.port(),
                "--bind-address=127.0.0.1",
                "--socket=" + home.folder().resolve("socket"),
                "--pid-file=" + home.folder().resolve("pid"),
                SMALL_LOG,
                "--skip-name-resolve"));
        command.addAll(more);
        return command;
    }

    /** A server that starts removes the temporary tables that it finds, those of servers that run beside it included. */
    private static String ownTemporaryFiles(ServerHome home) {
        return "--tmpdir=" + home.folder();
    }

    private static List<String> user() {
        return Setup.isRoot() ? List.of("--user=root") : List.of();
    }

    private static Path data(ServerHome home) {
        return EmptyDatabases.data(home);
    }
}
