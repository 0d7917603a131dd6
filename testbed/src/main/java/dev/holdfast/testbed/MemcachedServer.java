package dev.holdfast.testbed;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A real Memcached on a private port of this machine.
 *
 * <pre>{@code
 * try (MemcachedServer memcached = MemcachedServer.start("-m", "64")) {
 *     memcached.ask("flush_all");
 *     memcached.process().restart();
 * }
 * }</pre>
 *
 * <p>Thread-safe as its {@link ServerProcess} is.
 */
public final class MemcachedServer extends LocalServer {
    private static final Set<String> ENDS = Set.of("END", "OK", "ERROR", "RESET");

    private MemcachedServer(ServerProcess process) {
        super(process);
    }

    /**
     * Starts a server and returns when it accepts connections.
     *
     * @param options more options of the command line
     * @throws ServerMissingException when there is no memcached on this machine
     */
    public static MemcachedServer start(String... options) {
        Path program = Binaries.onThisMachine().find("memcached", "apt-get install memcached");
        return new MemcachedServer(ServerProcess.named("memcached")
                .command(home -> {
                    List<String> command = new ArrayList<>(List.of(
                            program.toString(), "-l", "127.0.0.1", "-p", String.valueOf(home.port()), "-u", "root"));
                    command.addAll(List.of(options));
                    return command;
                })
                .start());
    }

    /** Host and port. */
    public String endpoint() {
        return "127.0.0.1:" + port();
    }

    /** Sends a line, such as {@code flush_all} or {@code stats}; the lines of the answer, the last one included. */
    public List<String> ask(String line) {
        try (Socket socket = new Socket()) {
            socket.connect(Loopback.port(port()), 5_000);
            socket.setSoTimeout(5_000);
            socket.getOutputStream().write((line + "\r\n").getBytes(StandardCharsets.UTF_8));
            BufferedReader answers =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            List<String> lines = new ArrayList<>();
            for (String each = answers.readLine(); each != null; each = answers.readLine()) {
                lines.add(each);
                if (ENDS.contains(each) || each.matches("[A-Z_]*(STORED|DELETED|FOUND|EXISTS|TOUCHED)|[A-Z]+_ERROR.*")) {
                    break;
                }
            }
            return lines;
        } catch (IOException e) {
            throw new IllegalStateException("memcached on port " + port() + " does not answer: " + e, e);
        }
    }

    /** A number of {@code stats}, such as {@code evictions}. */
    public long stat(String name) {
        return ask("stats").stream()
                .filter(line -> line.startsWith("STAT " + name + " "))
                .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElseThrow();
    }
}
