package dev.holdfast.tck.fuzz;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.IgnoringListener;
import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.Clog;
import dev.holdfast.testbed.Direction;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One client of the store, behind a proxy of its own where the store is a server; and what goes wrong on its wire. */
final class FuzzClient implements AutoCloseable {
    final FuzzTime time;
    final Store store;
    final AtomicInteger suspected = new AtomicInteger();
    private volatile long unreachableAt = Long.MIN_VALUE;
    /** When something was last heard of its server. */
    volatile long reachableAt = Long.MIN_VALUE;
    /** The first is right; the margin covers the next two; nothing covers the last. */
    private static final double[] RATES = {1, 0.99, 1.01, 0.5};

    /** So long after its end a fault still has requests sent again, on a connection that is made anew. */
    private static final long RECOVERY = TimeUnit.SECONDS.toNanos(5);

    private final @Nullable TcpProxy proxy;
    private @Nullable ReplyDrop drop;
    private @Nullable Direction direction;
    private List<Clog> clogs = List.of();
    private long cutBefore;
    private long saidBefore;
    /** Since when its wire was bad, and until when; what was under way then may be sent twice. */
    long harmedAt = Call.NEVER;

    long healedAt = Call.NEVER;

    FuzzClient(StoreFuzz target, int number) throws Exception {
        time = new FuzzTime(Duration.ofHours(7L * number - 9), RATES[number % RATES.length]);
        OptionalInt port = target.port();
        proxy = port.isPresent() ? TcpProxy.to(port.getAsInt()) : null;
        try {
            store = target.open(new StoreContext(time), proxy == null ? 0 : proxy.port(), number);
        } catch (Exception e) {
            closeWire();
            throw e;
        }
        store.listen(new IgnoringListener() {
            @Override
            public void suspect(Grant grant) {
                suspected.incrementAndGet();
            }

            @Override
            public void unreachable(String name, Throwable why) {
                unreachableAt = System.nanoTime();
            }

            @Override
            public void reachable() {
                reachableAt = System.nanoTime();
            }
        });
    }

    /** Begins a fault of the wire, which ends by itself. */
    void harm(Op fault) {
        TcpProxy wire = proxy;
        if (wire == null) {
            return;
        }
        clogs = List.of();
        harmedAt = System.nanoTime();
        healedAt = Call.NEVER;
        cutBefore = wire.connections().cut();
        saidBefore = wire.toServer().traffic().read();
        switch (fault.verb()) {
            case DROP -> drop = wire.dropNextReply(ChunkMatcher.any());
            case HOLD -> {
                direction = wire.toClient();
                direction.hold();
            }
            case MUTE -> {
                direction = wire.toServer();
                direction.swallow();
            }
            case DEAF -> {
                direction = wire.toClient();
                direction.swallow();
            }
            case CLOG -> clogs = clog(wire, fault);
            case CUT -> time.schedule(wire::cut, Duration.ofNanos(fault.millis() * 20_000));
            case LOSE -> drop = wire.dropNextReply(number(fault.millis(), () -> {}));
            case SEVER ->
                drop = wire.dropNextReply(
                        number(fault.millis(), () -> time.schedule(wire::cut, Duration.ZERO)), chunk -> false);
            default -> throw new AssertionError(fault);
        }
    }

    /** One of its connections, or one after the other; the label of the fault says in which order. */
    private static List<Clog> clog(TcpProxy wire, Op fault) {
        int all = wire.connections().open();
        return numbers(all, new Random(fault.claim()))
                .limit(fault.claim() % 3 == 0 ? 1 : all)
                .map(wire::clog)
                .flatMap(Optional::stream)
                .toList();
    }

    /** What is clogged, in the order in which it is to be freed. */
    Stream<Clog> clogs(Op fault) {
        List<Clog> clogged = clogs;
        return numbers(clogged.size(), new Random(-1L - fault.claim())).map(clogged::get);
    }

    private static Stream<Integer> numbers(int count, Random random) {
        List<Integer> all = IntStream.range(0, count).boxed().collect(Collectors.toList());
        Collections.shuffle(all, random);
        return all.stream();
    }

    /** The request of that number, from now on, at which something is done. */
    private static ChunkMatcher number(long number, Runnable then) {
        AtomicLong left = new AtomicLong(number);
        return chunk -> {
            boolean meant = left.getAndDecrement() == 0;
            if (meant) {
                then.run();
            }
            return meant;
        };
    }

    /** Whether the fault has done anything so far. */
    boolean hasBitten(Op fault) {
        if (proxy == null) {
            return false;
        }
        return switch (fault.verb()) {
            case DROP, LOSE -> drop != null && drop.hasBitten();
            case CLOG -> clogs.stream().anyMatch(Clog::hasBitten);
            case CUT, SEVER -> proxy.connections().cut() > cutBefore;
            default -> direction != null && hasBitten(direction);
        };
    }

    /** Whether it sent anything since the fault began: there was something to bite. */
    boolean hasSpoken() {
        return proxy != null && proxy.toServer().traffic().read() > saidBefore;
    }

    /** Whether its wire was bad at some time between the two moments. */
    boolean wasHarmed(long from, long to) {
        return harmedAt <= to && healedAt >= from;
    }

    /** The same, or so little before that its connection may just be made anew. */
    boolean isRecovering(long from, long to) {
        return harmedAt <= to && (healedAt == Call.NEVER || healedAt + RECOVERY >= from);
    }

    /** Whether it was told since then that the server is away, or knew before and has heard nothing else. */
    boolean knowsOfOutage(long since) {
        return unreachableAt >= since || unreachableAt > reachableAt;
    }

    /** Ends all faults. */
    void heal() {
        if (proxy != null) {
            healedAt = System.nanoTime();
            proxy.heal();
        }
    }

    private static boolean hasBitten(Direction direction) {
        try {
            direction.awaitBite(Duration.ZERO);
            return true;
        } catch (AssertionError e) {
            return false;
        }
    }

    /** As if its machine lost power: nothing it says arrives any more, not even that it closes. */
    void kill() {
        if (proxy != null) {
            proxy.toServer().swallow();
            proxy.toClient().swallow();
        }
        Thread closing = new Thread(this::close, "fuzz-kill");
        closing.setDaemon(true);
        closing.start();
    }

    @Override
    public void close() {
        try {
            store.close();
        } finally {
            closeWire();
        }
    }

    private void closeWire() {
        if (proxy != null) {
            proxy.close();
        }
        time.close();
    }
}
