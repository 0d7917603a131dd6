package dev.holdfast.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The port of a proxy: open, or refusing as if nobody listened. Belongs to the loop's thread, once that runs. */
final class ProxyListener {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final ProxyLoop loop;
    private final Consumer<SocketChannel> newcomer;
    private final int port;
    private ServerSocketChannel listener;
    private @Nullable Socket placeholder;

    ProxyListener(ProxyLoop loop, Consumer<SocketChannel> newcomer) {
        this.loop = loop;
        this.newcomer = newcomer;
        try {
            this.listener = listen(0);
            this.port = listener.socket().getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot listen on 127.0.0.1", e);
        }
    }

    int port() {
        return port;
    }

    /** Takes in the clients that the kernel has accepted already: they believe to be connected. */
    void acceptWaiting() {
        try {
            while (listener.isOpen()) {
                SocketChannel client = listener.accept();
                if (client == null) {
                    return;
                }
                newcomer.accept(client);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot accept on port " + port, e);
        }
    }

    void refuse() {
        if (!listener.isOpen()) {
            return;
        }
        acceptWaiting();
        try {
            listener.close();
            loop.finishClosing();
            placeholder = hold();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot refuse on port " + port, e);
        }
    }

    void accept() {
        if (listener.isOpen()) {
            return;
        }
        close();
        boolean open = Await.until(PATIENCE, () -> {
            try {
                listener = listen(port);
                return true;
            } catch (IOException e) {
                return false;
            }
        });
        if (!open) {
            throw new IllegalStateException("another program took port " + port + " while the proxy refused on it");
        }
    }

    void close() {
        try {
            listener.close();
            if (placeholder != null) {
                placeholder.close();
                placeholder = null;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close port " + port, e);
        }
    }

    private ServerSocketChannel listen(int wanted) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open();
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(Loopback.port(wanted), 512);
            loop.register(channel, SelectionKey.OP_ACCEPT, key -> acceptWaiting());
            return channel;
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    /** Bound but not listening: clients are refused, and no other program is given the port. */
    private Socket hold() throws IOException {
        Socket socket = new Socket();
        try {
            socket.setReuseAddress(true);
            socket.bind(Loopback.port(port));
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }
}
