package dev.holdfast.testbed;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

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
    private static final Pattern LAST = Pattern.compile(
            "EN|HD .*|ME .*|VERSION .*|END|OK|ERROR|RESET|(NOT_)?STORED|DELETED|(NOT_)?FOUND|EXISTS|TOUCHED|(BUSY|[A-Z]+_ERROR).*");
    private static final int PATIENCE_MILLIS = 5_000;

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
        try (Connection connection = new Connection(port())) {
            return connection.ask(line + "\r\n");
        } catch (IOException e) {
            throw new IllegalStateException("memcached on port " + port() + " does not answer: " + e, e);
        }
    }

    /** Writes a value of so many bytes, without an end. */
    public void set(String key, int bytes) {
        setAll(Stream.of(key), bytes);
    }

    /** The same under many keys, whether the server takes them or not. */
    public void setAll(Stream<String> keys, int bytes) {
        try (Connection connection = new Connection(port())) {
            StringBuilder all = new StringBuilder();
            keys.forEach(
                    key -> all.append("set " + key + " 0 0 " + bytes + " noreply\r\n" + "x".repeat(bytes) + "\r\n"));
            connection.ask(all + "version\r\n");
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

    private static final class Connection implements AutoCloseable {
        private final Socket socket = new Socket();
        private final BufferedReader answers;

        Connection(int port) throws IOException {
            socket.connect(Loopback.port(port), PATIENCE_MILLIS);
            socket.setSoTimeout(PATIENCE_MILLIS);
            socket.setTcpNoDelay(true);
            answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        }

        List<String> ask(String command) throws IOException {
            socket.getOutputStream().write(command.getBytes(StandardCharsets.UTF_8));
            List<String> lines = new ArrayList<>();
            for (String each = answers.readLine(); each != null; each = answers.readLine()) {
                lines.add(each);
                if (LAST.matcher(each).matches()) {
                    break;
                }
            }
            return lines;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
