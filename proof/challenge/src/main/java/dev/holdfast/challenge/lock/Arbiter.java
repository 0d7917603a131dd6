package dev.holdfast.challenge.lock;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;
import dev.holdfast.tck.Modes;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A lock whose every decision is made in this process, one at a time: the right control, in which no check may find
 * anything. With a {@link Flaw} it is a wrong one, which its check must find.
 *
 * <p>A connection is a claim, and ends with it; there is no lease, so a holder that is stopped goes on holding.
 *
 * <pre>
 *   client                             arbiter
 *   FLAW NAME MODE         ──────────▶ joins the queue of the name
 *                          ◀────────── TOKEN, when it is the first, and fits beside the holders
 *   release                ──────────▶ leaves the holders
 *   end of the connection  ──────────▶ leaves queue and holders
 * </pre>
 */
public final class Arbiter implements AutoCloseable {
    private final ServerSocket server;
    private final Map<String, Room> rooms = new HashMap<>();
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();

    /** Begins to serve, on a free port of this machine. */
    public Arbiter() {
        try {
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException("the arbiter gets no port", e);
        }
        start("arbiter", this::accept);
    }

    /** The port to connect to. */
    public int port() {
        return server.getLocalPort();
    }

    /** What is left of a lock that nobody uses. */
    public synchronized List<String> residue(String name) {
        Room room = rooms.get(name);
        return room == null ? List.of() : List.copyOf(room.left);
    }

    private static final class Room {
        final Deque<Claim> queue = new ArrayDeque<>();
        final List<Claim> holders = new ArrayList<>();
        final List<String> left = new ArrayList<>();
        long tokens = 1_000_000;
    }

    /** Compared by identity: two claims may look the same. */
    private static final class Claim {
        final Flaw flaw;
        final Mode mode;

        Claim(Flaw flaw, Mode mode) {
            this.flaw = flaw;
            this.mode = mode;
        }

        boolean fitsBeside(List<Claim> holders) {
            if (mode instanceof Permits some) {
                int most = some.of() + (flaw == Flaw.EXTRA_PERMIT ? 1 : 0);
                return holders.size() < most;
            }
            if (mode instanceof Mode.Shared) {
                return flaw == Flaw.BARGING_READERS
                        || holders.stream().allMatch(holder -> holder.mode instanceof Mode.Shared);
            }
            return holders.size() < (flaw == Flaw.TWO_HOLDERS ? 2 : 1);
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket connection = server.accept();
                connections.add(connection);
                start("claim", () -> serve(connection));
            }
        } catch (IOException e) {
            // Closed: the challenge is over.
        }
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void serve(Socket connection) {
        try (connection) {
            BufferedReader in = new BufferedReader(new InputStreamReader(connection.getInputStream(), UTF_8));
            String line = in.readLine();
            if (line == null) {
                return;
            }
            String[] words = line.split(" ");
            Claim claim = new Claim(Flaw.valueOf(words[0]), Modes.read(words[2]));
            boolean released = false;
            enqueue(words[1], claim);
            try {
                // A waiter that dies is found dead when it is its turn: the answer fails, or its connection has ended.
                long token = await(words[1], claim);
                connection.getOutputStream().write((token + "\n").getBytes(UTF_8));
                released = in.readLine() != null;
            } finally {
                leave(words[1], claim, released);
            }
        } catch (IOException e) {
            // The worker was killed.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            connections.remove(connection);
        }
    }

    private synchronized void enqueue(String name, Claim claim) {
        rooms.computeIfAbsent(name, unused -> new Room()).queue.add(claim);
    }

    private synchronized long await(String name, Claim claim) throws InterruptedException {
        Room room = room(name);
        while (room.queue.peek() != claim || !claim.fitsBeside(room.holders)) {
            wait();
        }
        room.queue.remove();
        room.holders.add(claim);
        notifyAll();
        return switch (claim.flaw) {
            case FALLING_TOKENS -> --room.tokens;
            case EQUAL_TOKENS -> room.tokens;
            default -> ++room.tokens;
        };
    }

    private synchronized void leave(String name, Claim claim, boolean released) {
        Room room = room(name);
        room.queue.removeIf(other -> other == claim);
        if (released || claim.flaw != Flaw.FORGETS_THE_DEAD) {
            room.holders.removeIf(other -> other == claim);
        }
        if (claim.flaw == Flaw.LEAVES_RESIDUE) {
            room.left.add("a claim of " + name);
        }
        notifyAll();
    }

    private Room room(String name) {
        Room room = rooms.get(name);
        if (room == null) {
            throw new IllegalStateException("nobody ever asked for " + name);
        }
        return room;
    }

    @Override
    public void close() {
        try {
            server.close();
            for (Socket connection : connections) {
                connection.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close the arbiter", e);
        }
    }
}
