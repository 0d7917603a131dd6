package dev.holdfast.testbed;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** One connection of a client, and the one to the server that was made for it. Belongs to the loop's thread. */
final class ProxyConnection {
    private final TcpProxy proxy;
    private final SocketChannel client;
    private final SocketChannel server;
    private final SelectionKey clientKey;
    private final SelectionKey serverKey;
    private final Lane toServer;
    private final Lane toClient;
    private boolean connected;
    private boolean drained;
    private boolean chosen;
    private @Nullable ReplyDrop awaitingReply;

    /** Takes over both channels, and connects the one to the server. */
    ProxyConnection(TcpProxy proxy, ProxyLoop loop, SocketChannel client, SocketChannel server, SocketAddress target)
            throws IOException {
        this.proxy = proxy;
        this.client = client;
        this.server = server;
        this.toServer = new Lane(client, server, proxy.toServer());
        this.toClient = new Lane(server, client, proxy.toClient());
        // Small requests and replies pass when they come, not when Nagle's algorithm thinks fit.
        client.setOption(StandardSocketOptions.TCP_NODELAY, true);
        server.setOption(StandardSocketOptions.TCP_NODELAY, true);
        this.clientKey = loop.register(client, SelectionKey.OP_READ, key -> readClient());
        this.serverKey = loop.register(server, SelectionKey.OP_CONNECT, key -> readServer());
        connect(target);
    }

    /** Passes what is due in both directions and sees to what comes next. */
    void pass(long now) {
        if (connected && !drained) {
            toServer.pass(now);
            toClient.pass(now);
        }
        if (client.isOpen() && server.isOpen()) {
            if (toServer.isFinished() && toClient.isFinished()) {
                Sockets.close(client);
                Sockets.close(server);
            } else {
                watch();
            }
        } else if (!drained) {
            reset();
        }
    }

    /** Nanoseconds until something is due. */
    long untilDue(long now) {
        return connected ? Math.min(toServer.untilDue(now), toClient.untilDue(now)) : Long.MAX_VALUE;
    }

    /** Whether the client has its connection no more. */
    boolean isClosed() {
        return !client.isOpen();
    }

    /** Whether the client will send no more. */
    boolean isEndedByClient() {
        return toServer.isEndedBySender() || isClosed();
    }

    /** Resets both sides; what is under way is lost. */
    void reset() {
        toServer.dropAll();
        toClient.dropAll();
        Sockets.reset(client);
        Sockets.reset(server);
    }

    /** Keeps replies, and the server's end, until it is freed. */
    void clog() {
        toClient.clog(true);
    }

    void free() {
        toClient.clog(false);
    }

    /** Whether a reply came since it was clogged. */
    boolean hasKeptReply() {
        return toClient.hasClogged();
    }

    /** Throws away what is under way where bytes are swallowed. */
    void swallow() {
        if (proxy.toServer().mode() == Direction.Mode.SWALLOW) {
            toServer.dropAll();
        }
        if (proxy.toClient().mode() == Direction.Mode.SWALLOW) {
            toClient.dropAll();
        }
    }

    /** Whether bytes were swallowed in a direction that passes them again: nothing that follows makes sense. */
    boolean isBroken() {
        return (toServer.isLossy() && proxy.toServer().mode() != Direction.Mode.SWALLOW)
                || (toClient.isLossy() && proxy.toClient().mode() != Direction.Mode.SWALLOW);
    }

    private void connect(SocketAddress target) {
        try {
            connected = server.connect(target);
        } catch (IOException e) {
            reset();
        }
    }

    private void readClient() {
        byte[] chunk = toServer.read(proxy.buffer());
        if (chunk == null) {
            return;
        }
        ReplyDrop drop = chosen ? null : proxy.dropFor(chunk);
        if (drop == null) {
            toServer.offer(chunk, () -> {});
        } else {
            chosen = true;
            // From when the server has the request: replies before that are replies to something else.
            toServer.offer(chunk, () -> awaitingReply = drop);
        }
    }

    private void readServer() {
        if (!connected) {
            try {
                connected = server.finishConnect();
            } catch (IOException e) {
                // As the client would have been told without a proxy, as near as it comes after an accept.
                reset();
            }
            return;
        }
        byte[] chunk = toClient.read(proxy.buffer());
        if (chunk == null) {
            return;
        }
        if (awaitingReply != null && awaitingReply.takesReply(chunk)) {
            loseReply(chunk.length);
        } else {
            toClient.offer(chunk, () -> {});
        }
    }

    private void loseReply(int bytes) {
        proxy.countCut();
        toClient.drop(bytes);
        toClient.dropAll();
        toServer.dropAll();
        Sockets.reset(client);
        // Not a reset here: it could destroy the request in the server's buffer, which is to be applied.
        drained = true;
        try {
            server.shutdownOutput();
            serverKey.attach((ProxyLoop.Ready) key -> drain());
            serverKey.interestOps(SelectionKey.OP_READ);
        } catch (IOException e) {
            Sockets.reset(server);
        }
    }

    /** Lets the server say what it still has to say, to nobody. */
    private void drain() {
        ByteBuffer buffer = proxy.buffer().clear();
        try {
            if (server.read(buffer) < 0) {
                Sockets.close(server);
            }
        } catch (IOException e) {
            Sockets.close(server);
        }
    }

    private void watch() {
        clientKey.interestOps(operations(toServer, toClient));
        serverKey.interestOps(connected ? operations(toClient, toServer) : SelectionKey.OP_CONNECT);
    }

    private static int operations(Lane from, Lane to) {
        return (from.wantsToRead() ? SelectionKey.OP_READ : 0) | (to.wantsToWrite() ? SelectionKey.OP_WRITE : 0);
    }
}
