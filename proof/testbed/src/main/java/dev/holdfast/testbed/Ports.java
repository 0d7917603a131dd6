package dev.holdfast.testbed;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that must be told theirs. Thread-safe.
 *
 * <pre>{@code
 * int port = Ports.free();
 * }</pre>
 */
public final class Ports {
    /**
     * Below what Linux and macOS hand out to outgoing connections: such a connection could else sit on the port when
     * the server comes up, or comes up again after a kill.
     */
    private static final int FIRST = 15_000;

    private static final int END = 32_000;
    private static final int TRIES = 1_000;

    private static final Set<Integer> HANDED_OUT = ConcurrentHashMap.newKeySet();
    /** Each on the UDP port of a number that was handed out: so another JVM sees that the TCP port is, before it is used. */
    private static final Queue<DatagramSocket> CLAIMS = new ConcurrentLinkedQueue<>();

    private Ports() {}

    /**
     * A port on which nobody listens, never given twice by this JVM, nor by two JVMs of tests while both run. Another
     * program may still take it before the server does; ports are drawn at random, so that seldom happens.
     *
     * @throws IllegalStateException when a thousand tries find none
     */
    public static int free() {
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, END);
            if (HANDED_OUT.add(port) && canBind(port) && claim(port)) {
                return port;
            }
        }
        throw new IllegalStateException("no free port found between " + FIRST + " and " + END);
    }

    private static boolean claim(int port) {
        try {
            CLAIMS.add(new DatagramSocket(Loopback.port(port)));
            return true;
        } catch (SocketException claimed) {
            return false;
        }
    }

    static boolean canBind(int port) {
        // Bound to all addresses, so that a listener on any of them is noticed, but never listening itself.
        try (Socket socket = new Socket()) {
            socket.bind(new InetSocketAddress(port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
