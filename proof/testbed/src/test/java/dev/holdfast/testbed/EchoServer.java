package dev.holdfast.testbed;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Sends back what it gets; tells how each of its connections ended. */
final class EchoServer implements AutoCloseable {
    /** How a connection ended, and what had come until then. */
    record Ending(boolean orderly, String received) {}

    private final ServerSocket server;
    private final BlockingQueue<Ending> endings = new LinkedBlockingQueue<>();

    EchoServer() throws IOException {
        server = new ServerSocket();
        server.bind(Loopback.port(0));
        daemon(this::acceptAll);
    }

    int port() {
        return server.getLocalPort();
    }

    BlockingQueue<Ending> endings() {
        return endings;
    }

    @Override
    public void close() throws IOException {
        server.close();
    }

    private void acceptAll() {
        try {
            while (true) {
                Socket socket = server.accept();
                daemon(() -> echo(socket));
            }
        } catch (IOException e) {
            if (!server.isClosed()) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private void echo(Socket socket) {
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        try (socket) {
            InputStream in = socket.getInputStream();
            byte[] buffer = new byte[8192];
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                received.write(buffer, 0, count);
                socket.getOutputStream().write(buffer, 0, count);
            }
            endings.add(new Ending(true, received.toString(UTF_8)));
        } catch (IOException e) {
            endings.add(new Ending(false, received.toString(UTF_8)));
        }
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task, "test-echo");
        thread.setDaemon(true);
        thread.start();
    }
}
