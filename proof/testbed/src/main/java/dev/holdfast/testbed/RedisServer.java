package dev.holdfast.testbed;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A real Redis on a private port of this machine, without persistence unless the options say otherwise.
 *
 * <pre>{@code
 * try (RedisServer redis = RedisServer.start("--appendonly", "yes")) {
 *     redis.process().kill();
 *     redis.process().restart();
 * }
 * }</pre>
 *
 * <p>Thread-safe as its {@link ServerProcess} is.
 */
public final class RedisServer extends LocalServer {
    private RedisServer(ServerProcess process) {
        super(process);
    }

    /**
     * Starts a server and returns when it answers.
     *
     * @param options more options of the command line, which win over those set here
     * @throws ServerMissingException when there is no Redis on this machine
     */
    public static RedisServer start(String... options) {
        return start(Binaries.onThisMachine().redisServer(), Map.of(), List.of(options));
    }

    /**
     * As {@link #start}, for tests that need the server of a distribution: it speaks TLS ({@code --tls-port}) and takes
     * a {@link ServerClock}. Where it is not installed the test is skipped, even in CI.
     *
     * @param environment variables besides those of this JVM
     */
    public static RedisServer startInstalled(Map<String, String> environment, String... options) {
        Path program = Binaries.onThisMachine().findInstalled("redis-server", "apt-get install redis-server");
        return start(program, environment, List.of(options));
    }

    private static RedisServer start(Path program, Map<String, String> environment, List<String> options) {
        ServerProcess.Builder server = ServerProcess.named("redis")
                .command(home -> command(program, home, options))
                .readyWhen(home -> answers(home.port()));
        environment.forEach(server::environment);
        return new RedisServer(server.start());
    }

    /** Its address, as {@code redis://127.0.0.1:20304}. */
    public String uri() {
        return "redis://127.0.0.1:" + port();
    }

    /** Opens a plain connection, with 5 s of patience. */
    public RespConnection connect() {
        return RespConnection.open(port(), Duration.ofSeconds(5));
    }

    /** Asks it once, on a connection of its own, as {@link RespConnection#call}. */
    public String call(String... command) {
        try (RespConnection connection = connect()) {
            return connection.call(command);
        }
    }

    private static List<String> command(Path program, ServerHome home, List<String> more) {
        List<String> command = new ArrayList<>(List.of(
                program.toString(),
                "--port",
                Integer.toString(home.port()),
                "--bind",
                "127.0.0.1",
                "--dir",
                home.folder().toString(),
                "--save",
                "",
                "--appendonly",
                "no",
                // A replica would otherwise wait 5 s for others to come along before it is given the data.
                "--repl-diskless-sync-delay",
                "0"));
        command.addAll(more);
        return command;
    }

    private static boolean answers(int port) {
        // Not only the port: a server that still loads its data accepts connections, and refuses every command.
        try (RespConnection redis = RespConnection.open(port, Duration.ofSeconds(1))) {
            return redis.call("PING").equals("PONG");
        } catch (UncheckedIOException | IllegalStateException e) {
            return false;
        }
    }
}
