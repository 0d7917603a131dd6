package dev.holdfast.memcached;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.function.Predicate;

/** A connection for a few questions that spymemcached does not know, or knows not to survive an odd answer to. Blocks. */
final class Dialogue implements AutoCloseable {
    private final Socket socket;
    private final BufferedReader answers;

    private Dialogue(Socket socket) throws IOException {
        this.socket = socket;
        this.answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII));
    }

    /**
     * Connects.
     *
     * @param limit for this, and for each line of an answer
     */
    static Dialogue with(SocketAddress server, Duration limit) throws IOException {
        Socket socket = new Socket();
        try {
            int millis = Math.toIntExact(limit.toMillis());
            socket.connect(server, millis);
            socket.setSoTimeout(millis);
            return new Dialogue(socket);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /** Sends a question, and reads lines as long as they are wanted; the first that is not. */
    String ask(String question, Predicate<String> wanted) throws IOException {
        socket.getOutputStream().write((question + "\r\n").getBytes(US_ASCII));
        while (true) {
            String line = answers.readLine();
            if (line == null) {
                throw new IOException("the connection was closed");
            }
            if (!wanted.test(line)) {
                return line;
            }
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
