package dev.holdfast.testbed;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A TCP proxy on 127.0.0.1 in front of a server on this machine, which delays, holds, loses and cuts what passes.
 *
 * <pre>{@code
 * try (TcpProxy proxy = TcpProxy.to(redis.port())) {
 *     connectTo("redis://127.0.0.1:" + proxy.port());
 *
 *     proxy.toServer().delay(Duration.ofMillis(50));      // latency, one way
 *     proxy.toClient().hold();                            // replies wait in the proxy …
 *     proxy.toClient().resume();                          // … until now
 *     proxy.toServer().swallow();                         // a black hole: silence, but connected
 *     proxy.cut();                                        // RST to everybody
 *     proxy.refuse();                                     // nobody listens
 *     proxy.heal();                                       // all is well again
 *
 *     ReplyDrop lost = proxy.dropNextReply(ChunkMatcher.containing("SET"));
 *     set();                                              // fails, though the server did it
 *     lost.awaitBite(Duration.ofSeconds(5));
 * }
 * }</pre>
 *
 * <p>A fault that did not bite proves nothing: {@link Direction#awaitBite}, {@link ReplyDrop#awaitBite} and the number
 * that {@link #cut} returns tell whether it did. The end of one direction (half-close) and a reset are passed on in
 * order with the bytes.
 *
 * <p>When a method returns, its effect is complete. Thread-safe. Methods that change something throw
 * {@link IllegalStateException} once the proxy is closed.
 */
public final class TcpProxy implements AutoCloseable {
    private final InetSocketAddress target;
    private final ProxyLoop loop;
    private final ProxyListener listener;
    private final Direction toServer;
    private final Direction toClient;
    private final List<ReplyDrop> drops = new CopyOnWriteArrayList<>();
    private final AtomicLong accepted = new AtomicLong();
    private final AtomicLong cut = new AtomicLong();

    // Changed by the loop's thread only; the list is copied on write for those who count.
    private final List<ProxyConnection> connections = new CopyOnWriteArrayList<>();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(64 << 10);

    private TcpProxy(InetSocketAddress target) {
        if (target.isUnresolved() || !target.getAddress().isLoopbackAddress()) {
            throw new IllegalArgumentException("only servers on this machine: " + target);
        }
        this.target = target;
        this.loop = new ProxyLoop("testbed-proxy-to-" + target.getPort(), this::passDue);
        this.toServer = new Direction("server", loop, this::directionChanged);
        this.toClient = new Direction("client", loop, this::directionChanged);
        this.listener = new ProxyListener(loop, this::welcome);
        loop.start();
    }

    /** A proxy in front of a port of 127.0.0.1. The server need not be there yet. */
    public static TcpProxy to(int port) {
        return new TcpProxy(Loopback.port(port));
    }

    /**
     * A proxy in front of a server on this machine.
     *
     * @throws IllegalArgumentException when the host is not a loopback address
     */
    public static TcpProxy to(String host, int port) {
        return new TcpProxy(new InetSocketAddress(host, port));
    }

    /** The port to connect to, on 127.0.0.1; the same for the life of the proxy. */
    public int port() {
        return listener.port();
    }

    /** What happens to requests. */
    public Direction toServer() {
        return toServer;
    }

    /** What happens to replies. */
    public Direction toClient() {
        return toClient;
    }

    /**
     * Resets (RST) all present connections, on both sides; what is under way in the proxy is lost. New ones are accepted
     * as before.
     *
     * @return how many were cut; 0 means that the fault did not bite
     */
    public int cut() {
        return loop.call(() -> {
            listener.acceptWaiting();
            return cutAll(connections);
        });
    }

    /**
     * Keeps the replies on one of the present connections, and the end of it too, until it is {@linkplain Clog#free
     * freed} or the proxy {@linkplain #heal healed}; all other connections pass as before.
     *
     * @param number of that connection, in the order in which they were made; counted round
     * @return empty if there is no connection
     */
    public Optional<Clog> clog(int number) {
        return loop.call(() -> {
            if (connections.isEmpty()) {
                return Optional.empty();
            }
            ProxyConnection connection = connections.get(Math.floorMod(number, connections.size()));
            connection.clog();
            return Optional.of(new Clog(loop, connection));
        });
    }

    /** Refuses new connections, as if nobody listened. Present ones go on. */
    public void refuse() {
        loop.run(listener::refuse);
    }

    /** Accepts new connections again. */
    public void accept() {
        loop.run(listener::accept);
    }

    /**
     * Makes one reply get lost: the first chunk from the server on the connection whose request matches, after the server
     * was given that request. The client's connection is reset; the server sees an orderly end, so that it applies the
     * request first. With pipelining the first chunk may answer an earlier request; then name the reply as well.
     */
    public ReplyDrop dropNextReply(ChunkMatcher request) {
        return dropNextReply(request, ChunkMatcher.any());
    }

    /** As {@link #dropNextReply(ChunkMatcher)}, for the first chunk from the server that matches {@code reply}. */
    public ReplyDrop dropNextReply(ChunkMatcher request, ChunkMatcher reply) {
        ReplyDrop drop = new ReplyDrop(request, reply);
        loop.run(() -> drops.add(drop));
        return drop;
    }

    /** Ends all faults: accepts, passes without delay, drops no more replies, frees what is clogged. */
    public void heal() {
        loop.run(() -> {
            drops.forEach(ReplyDrop::cancel);
            drops.clear();
            for (Direction direction : List.of(toServer, toClient)) {
                direction.delay(Duration.ZERO);
                direction.resume();
            }
            connections.forEach(ProxyConnection::free);
            listener.accept();
        });
    }

    /** The connections so far. */
    public Connections connections() {
        return new Connections(accepted.get(), connections.size(), cut.get());
    }

    /**
     * How many connections clients have not ended. One that a client has ended stays open until its server ends it, too,
     * which a server that is just starting may never do.
     */
    public int keptByClients() {
        return loop.call(() -> Math.toIntExact(
                connections.stream().filter(each -> !each.isEndedByClient()).count()));
    }

    /** Resets all connections, closes the port and ends its threads. May be called again. */
    @Override
    public void close() {
        try {
            loop.run(() -> {
                connections.forEach(ProxyConnection::reset);
                connections.clear();
                listener.close();
            });
        } catch (IllegalStateException e) {
            // Closed before.
        }
        loop.close();
    }

    @Override
    public String toString() {
        return "proxy on port " + port() + " to " + target;
    }

    ByteBuffer buffer() {
        return buffer;
    }

    void countCut() {
        cut.incrementAndGet();
    }

    @Nullable
    ReplyDrop dropFor(byte[] request) {
        for (ReplyDrop drop : drops) {
            if (drop.takesRequest(request)) {
                drops.remove(drop);
                return drop;
            }
        }
        return null;
    }

    private void welcome(SocketChannel client) {
        accepted.incrementAndGet();
        SocketChannel server = null;
        try {
            server = SocketChannel.open();
            connections.add(new ProxyConnection(this, loop, client, server, target));
        } catch (IOException e) {
            // The client is gone already, or there is no descriptor left for the other side.
            Sockets.reset(client);
            if (server != null) {
                Sockets.reset(server);
            }
        }
    }

    private void directionChanged() {
        connections.forEach(ProxyConnection::swallow);
        cutAll(connections.stream().filter(ProxyConnection::isBroken).toList());
    }

    private int cutAll(List<ProxyConnection> doomed) {
        List<ProxyConnection> copy = new ArrayList<>(doomed);
        copy.forEach(ProxyConnection::reset);
        connections.removeAll(copy);
        cut.addAndGet(copy.size());
        return copy.size();
    }

    private long passDue(long now) {
        long wait = Long.MAX_VALUE;
        List<ProxyConnection> closed = new ArrayList<>();
        for (ProxyConnection connection : connections) {
            connection.pass(now);
            if (connection.isClosed()) {
                closed.add(connection);
            } else {
                wait = Math.min(wait, connection.untilDue(now));
            }
        }
        connections.removeAll(closed);
        return wait;
    }
}
