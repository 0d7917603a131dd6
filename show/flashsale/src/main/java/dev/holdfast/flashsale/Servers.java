package dev.holdfast.flashsale;

import dev.holdfast.flashsale.guard.Faults;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** The servers of a sale, and what is done to them. Their numbers begin at 1. Thread-safe. */
final class Servers implements AutoCloseable {
    private static final Duration SECTION = Duration.ofSeconds(1);
    private static final int OK = 200;
    private static final long POLL = 20; // milliseconds
    private static final Duration END = Duration.ofSeconds(5);

    private final Map<String, String> settings;
    private final String secret = UUID.randomUUID().toString(); // no other program arms a fault
    private final ServerPool pool;
    private final Consumer<String> log;
    private final BiConsumer<Integer, Faults.Fault> struck;
    private final List<NodeProcess> nodes = new CopyOnWriteArrayList<>();
    private final HttpClient http = HttpClient.newHttpClient();
    private final ReentrantLock changes = new ReentrantLock();
    private final ReentrantLock starts = new ReentrantLock();
    private boolean closed;

    /**
     * Servers with settings as variables of their processes, which join a pool.
     *
     * @param struck is told of each fault that strikes; it cuts all of them off from the store, when an order meets that
     */
    Servers(
            Map<String, String> settings,
            ServerPool pool,
            Consumer<String> log,
            BiConsumer<Integer, Faults.Fault> struck) {
        this.settings = settings;
        this.pool = pool;
        this.log = log;
        this.struck = struck;
    }

    /** Starts so many, and waits until all serve. */
    void start(int count) throws InterruptedException {
        IntStream.rangeClosed(1, count).forEach(this::startNode);
        for (NodeProcess node : nodes) {
            pool.add(node.await());
        }
    }

    private NodeProcess startNode(int number) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("SALE_SECRET", secret);
        starts.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the sale has ended");
            }
            NodeProcess started = NodeProcess.start(number, all, log, struck);
            if (number > nodes.size()) {
                nodes.add(started);
            } else {
                nodes.set(number - 1, started);
            }
            return started;
        } finally {
            starts.unlock();
        }
    }

    /** Where a server serves. */
    URI address(int number) throws InterruptedException {
        return node(number).await();
    }

    /**
     * A server as the page shows it.
     *
     * @param waiting the orders that wait for their turn there
     * @param working those that have read and have not written
     */
    record Figures(int number, String state, int waiting, int working) {
        static Figures of(NodeProcess node) {
            NodeProcess.Crowd crowd = node.crowd();
            return new Figures(node.number(), node.state().name(), crowd.waiting(), crowd.working());
        }
    }

    List<Figures> figures() {
        return nodes.stream().map(Figures::of).toList();
    }

    /** Forgets the faults that wait for an order. */
    void disarm() {
        for (NodeProcess node : nodes) {
            if (node.state() == NodeProcess.State.UP) {
                arm(node, "none");
            }
        }
    }

    /** Stops a server for longer than its lease, as soon as an order has read the stock there. */
    void pause(int number) {
        arm(up(number), "pause");
    }

    /** Arms a fault for the next order that has read the stock on a server. */
    void arm(int number, Faults.Fault fault) {
        arm(up(number), fault.name().toLowerCase(Locale.ROOT));
    }

    /** Brings back servers that are down, and waits for those that are stopped or start. */
    void awaitAllUp() throws InterruptedException {
        for (NodeProcess node : nodes) {
            awaitUp(node.number());
            if (node.state() == NodeProcess.State.STARTING) {
                node.await();
            }
            if (node.state() == NodeProcess.State.DOWN) {
                restart(node.number());
            }
        }
    }

    /** Kills a server as soon as an order has read the stock there. */
    void killInNextOrder(int number) {
        arm(up(number), "kill");
    }

    /** Kills a server: in the next order that has read the stock there, or a second later. */
    void kill(int number) throws InterruptedException {
        NodeProcess node = node(number);
        Refused.unless(node.state() != NodeProcess.State.DOWN, "server " + number + " is down already");
        if (node.state() == NodeProcess.State.UP) {
            arm(node, "kill");
            if (node.awaitEnd(SECTION)) {
                return;
            }
        }
        node.close();
        node.awaitEnd(SECTION);
        struck.accept(number, Faults.Fault.KILL);
    }

    /** Waits until a server that was stopped goes on. */
    void awaitUp(int number) throws InterruptedException {
        while (node(number).state() == NodeProcess.State.PAUSED) {
            Thread.sleep(POLL);
        }
    }

    /** Starts a server that is down. */
    void restart(int number) throws InterruptedException {
        changes.lock();
        try {
            NodeProcess dead = node(number);
            Refused.unless(dead.state() == NodeProcess.State.DOWN, "server " + number + " is not down");
            dead.address().ifPresent(pool::remove); // one that failed to start was never added
            NodeProcess started = startNode(number);
            try {
                pool.add(started.await());
            } catch (IllegalStateException failed) {
                started.close(); // so that it can be started again
                throw failed;
            }
        } finally {
            changes.unlock();
        }
    }

    /** Starts a server in the place of one that may be up or down. */
    void replace(int number) throws InterruptedException {
        node(number).close();
        node(number).awaitEnd(END);
        restart(number);
    }

    private NodeProcess node(int number) {
        Refused.unless(number >= 1 && number <= nodes.size(), "there are servers 1 to " + nodes.size());
        return nodes.get(number - 1);
    }

    /** Refuses what needs a server that is not up. */
    void requireUp(int number) {
        up(number);
    }

    private NodeProcess up(int number) {
        NodeProcess node = node(number);
        Refused.unless(node.state() == NodeProcess.State.UP, "server " + number + " is not up");
        return node;
    }

    /** A request that a server answers to this program alone. */
    HttpRequest.Builder request(int number, String path) throws InterruptedException {
        return HttpRequest.newBuilder(address(number).resolve(path)).header("Sale-Secret", secret);
    }

    private void arm(NodeProcess node, String fault) {
        try {
            HttpRequest request = request(node.number(), "/faults/" + fault)
                    .timeout(Duration.ofSeconds(30))
                    .POST(HttpRequest.BodyPublishers.noBody())
                    .build();
            int status = http.send(request, BodyHandlers.discarding()).statusCode();
            Refused.unless(status == OK, "server " + node.number() + " answers " + status);
        } catch (IOException e) {
            if (fault.equals("kill") && endsSoon(node)) {
                return; // an order met the fault before the answer was out
            }
            throw new Refused("server " + node.number() + " does not answer", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private static boolean endsSoon(NodeProcess node) {
        try {
            return node.awaitEnd(SECTION);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Kills all of them, also those that are starting, and waits for their ends. No other is started. */
    @Override
    public void close() {
        starts.lock();
        try {
            closed = true;
        } finally {
            starts.unlock();
        }
        nodes.forEach(NodeProcess::close);
        try {
            for (NodeProcess node : nodes) {
                node.awaitEnd(END);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
