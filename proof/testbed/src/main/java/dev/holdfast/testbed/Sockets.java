package dev.holdfast.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/** How the proxy ends a connection. */
final class Sockets {
    private Sockets() {}

    /** Ends it with RST: the other side learns at once, and what is under way is lost. */
    static void reset(SocketChannel channel) {
        try {
            if (channel.isOpen()) {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
        } catch (IOException e) {
            // The other side was first: there is nobody left to be told.
        }
        close(channel);
    }

    /** Closes it; bytes already written still arrive. */
    static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close a socket", e);
        }
    }
}
