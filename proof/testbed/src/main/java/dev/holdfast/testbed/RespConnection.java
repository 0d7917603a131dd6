package dev.holdfast.testbed;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.time.Duration;
import java.util.StringJoiner;

/**
 * Asks a Redis server directly, without a client library that retries, reconnects or pools: to see what really is in
 * the store.
 *
 * <pre>{@code
 * try (RespConnection redis = RespConnection.open(server.port(), Duration.ofSeconds(5))) {
 *     assertThat(redis.call("GET", "lock")).isEqualTo("(nil)");
 * }
 * }</pre>
 *
 * <p>Replies are text: strings and numbers as they are, nothing as {@code (nil)}, lists as {@code [a, b]}. For one
 * thread. All methods throw {@link UncheckedIOException} when the connection is broken or no reply comes in time.
 */
public final class RespConnection implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;

    private RespConnection(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new BufferedInputStream(socket.getInputStream());
    }

    /** Connects to a port of this machine; the patience holds for the connection and for each reply. */
    public static RespConnection open(int port, Duration patience) {
        Socket socket = new Socket();
        try {
            int millis = Math.toIntExact(patience.toMillis());
            socket.connect(Loopback.port(port), millis);
            socket.setSoTimeout(millis);
            socket.setTcpNoDelay(true);
            return new RespConnection(socket);
        } catch (IOException e) {
            close(socket);
            throw new UncheckedIOException("cannot connect to port " + port, e);
        }
    }

    /**
     * Sends a command and awaits its reply.
     *
     * @throws IllegalStateException when the server answers with an error
     */
    public String call(String... command) {
        send(command);
        return receive();
    }

    /** Sends a command without awaiting its reply. */
    public void send(String... command) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(("*" + command.length + "\r\n").getBytes(UTF_8));
        for (String word : command) {
            byte[] text = word.getBytes(UTF_8);
            bytes.writeBytes(("$" + text.length + "\r\n").getBytes(UTF_8));
            bytes.writeBytes(text);
            bytes.writeBytes("\r\n".getBytes(UTF_8));
        }
        try {
            // In one write: a proxy in between is to see one command in one chunk.
            socket.getOutputStream().write(bytes.toByteArray());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot send " + String.join(" ", command), e);
        }
    }

    /**
     * Awaits the next reply.
     *
     * @throws IllegalStateException when the server answers with an error
     */
    public String receive() {
        try {
            return reply();
        } catch (IOException e) {
            throw new UncheckedIOException("no reply", e);
        }
    }

    /** Closes the connection. */
    @Override
    public void close() {
        close(socket);
    }

    private String reply() throws IOException {
        String line = line();
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+', ':' -> rest;
            case '$' -> bulk(Integer.parseInt(rest));
            case '*' -> list(Integer.parseInt(rest));
            case '-' -> throw new IllegalStateException("Redis says: " + rest);
            default -> throw new IOException("not a reply: " + line);
        };
    }

    private String bulk(int length) throws IOException {
        if (length < 0) {
            return "(nil)";
        }
        byte[] text = in.readNBytes(length);
        line();
        return new String(text, UTF_8);
    }

    private String list(int length) throws IOException {
        if (length < 0) {
            return "(nil)";
        }
        StringJoiner elements = new StringJoiner(", ", "[", "]");
        for (int i = 0; i < length; i++) {
            elements.add(reply());
        }
        return elements.toString();
    }

    private String line() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("the server closed the connection");
            }
            if (next != '\r') {
                bytes.write(next);
            }
        }
        return bytes.toString(UTF_8);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is of no more use either way.
        }
    }
}
