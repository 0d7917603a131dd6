package dev.holdfast.testbed;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

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
public final class RedisServer implements AutoCloseable {
    private final ServerProcess process;

    private RedisServer(ServerProcess process) {
        this.process = process;
    }

    /**
     * Starts a server and returns when it answers.
     *
     * @param options more options of the command line, which win over those set here
     * @throws ServerMissingException when there is no Redis on this machine
     */
    public static RedisServer start(String... options) {
        Path program = Binaries.onThisMachine().redisServer();
        List<String> more = List.of(options);
        return new RedisServer(ServerProcess.named("redis")
                .command(home -> command(program, home, more))
                .readyWhen(home -> answers(home.port()))
                .start());
    }

    /** The port it listens on, the same over restarts. */
    public int port() {
        return process.port();
    }

    /** Its address, as {@code redis://127.0.0.1:20304}. */
    public String uri() {
        return "redis://127.0.0.1:" + port();
    }

    /** The process: to stop, kill, restart, and read the log. */
    public ServerProcess process() {
        return process;
    }

    /** Opens a plain connection, with 5 s of patience. */
    public RespConnection connect() {
        return RespConnection.open(port(), Duration.ofSeconds(5));
    }

    /** Kills the server and deletes its folder. */
    @Override
    public void close() {
        process.close();
    }

    @Override
    public String toString() {
        return process.toString();
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
