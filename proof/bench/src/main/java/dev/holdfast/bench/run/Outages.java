package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.server.Server;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * How long a lock serves nobody when something breaks, with the defaults of each library. Nearly all of that time is
 * waiting, so that all peers break together.
 */
public final class Outages {
    /** After that a service counts as not coming back. */
    public static final Duration LIMIT = Duration.ofSeconds(90);

    private static final Duration UNTIL_ALL_WAIT = Duration.ofSeconds(1);
    private static final Duration BEFORE_AND_AFTER = Duration.ofSeconds(3);
    private static final Duration TURN = Duration.ofMillis(10);
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private final Server server;
    private final Results results;
    private final Progress progress;

    /** Outages on a server of their own: it is restarted, and its counters begin anew. */
    public Outages(Server server, Results results, Progress progress) {
        this.server = server;
        this.results = results;
        this.progress = progress;
    }

    /** The peers that are compared. */
    public static List<PeerKind> peers(Server server) {
        return Peers.on(server.kind()).stream()
                .filter(peer -> peer.role() != Role.HOLDFAST || peer.id().equals(Peers.HOLDFAST))
                .filter(peer -> peer.role() != Role.CEILING)
                .filter(peer -> Holdfasts.hasStoreFor(peer, server))
                .toList();
    }

    /** About how long all outages of a store take. */
    public static Duration expected() {
        return LIMIT.multipliedBy(2);
    }

    /** Measures them all. */
    public void measure() {
        for (Outage outage : Outage.values()) {
            if (outage.suits(server)) {
                progress.say("  " + server.kind().title() + ": time without service when " + outage.title());
                measure(outage);
            }
        }
    }

    private void measure(Outage outage) {
        List<Pair> all = new ArrayList<>();
        try {
            peers(server).forEach(peer -> all.add(new Pair(peer, outage)));
            List<Pair> pairs =
                    all.stream().filter(pair -> isReady(outage, pair)).toList();
            if (outage == Outage.SERVER_RESTARTED) {
                restart(pairs);
            } else {
                Schedule.pause(UNTIL_ALL_WAIT);
                pairs.forEach(pair -> pair.breakHolder(outage));
                pairs.forEach(pair -> noteOther(outage, pair));
            }
        } catch (AssertionError e) {
            fail(outage, e);
        } finally {
            all.forEach(Pair::close);
        }
    }

    private boolean isReady(Outage outage, Pair pair) {
        try {
            pair.awaitStart();
            return true;
        } catch (RoundFailed | AssertionError e) {
            fail(outage, e);
            return false;
        }
    }

    private void fail(Outage outage, Throwable e) {
        String reason = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
        progress.say("    FAILED: " + reason);
        results.fail(server.kind().title() + ", " + outage.title() + ": " + reason);
    }

    private void restart(List<Pair> pairs) {
        Schedule.pause(BEFORE_AND_AFTER);
        long began = System.nanoTime();
        server.restart();
        long ready = System.nanoTime();
        progress.say("    the server was away for %.1f s".formatted((ready - began) / NANOS_PER_SECOND));
        pairs.forEach(pair -> pair.awaitTurnAfter(ready));
        Schedule.pause(BEFORE_AND_AFTER);
        long end = System.nanoTime();
        pairs.forEach(pair -> note(Outage.SERVER_RESTARTED, pair, longestGap(pair.turns(), began, end)));
    }

    private void noteOther(Outage outage, Pair pair) {
        long nanos = pair.awaitOther();
        if (nanos < 0) {
            fail(outage, new AssertionError(pair.peer.id() + ": its lock ended before its holder did"));
        } else {
            note(outage, pair, nanos);
        }
    }

    private void note(Outage outage, Pair pair, long nanos) {
        double seconds = Math.min(nanos / NANOS_PER_SECOND, (double) LIMIT.toSeconds());
        results.figure(outage.figure(server.kind(), pair.peer), seconds);
        progress.say("    %s %.2f s".formatted(pair.peer.id(), seconds));
    }

    /** The longest time without a turn between the beginning and the end, counted from the last turn before it began. */
    static long longestGap(LongStream turns, long began, long end) {
        long longest = 0;
        long before = began;
        for (long turn : LongStream.concat(turns, LongStream.of(end)).sorted().toArray()) {
            if (turn > began) {
                longest = Math.max(longest, turn - before);
            }
            before = turn;
        }
        return longest;
    }

    /** Each peer has a lock of its own: two locks of one library, plain and fair, would wait for each other. */
    static String lockOf(Outage outage, PeerKind peer) {
        return outage.name() + "-" + peer.id();
    }

    /** Two processes that want one lock of one peer. */
    private final class Pair implements AutoCloseable {
        private final PeerKind peer;
        private final ChildProcess holder = worker();
        private final ChildProcess waiter = worker();
        private final String orders;
        private long broken;

        Pair(PeerKind peer, Outage outage) {
            this.peer = peer;
            Duration hold = outage == Outage.SERVER_RESTARTED ? TURN : Load.FOREVER;
            this.orders = new TurnTaker(peer.id(), server.kind(), server.url(), lockOf(outage, peer), hold).toLine();
            holder.send(orders);
        }

        /** Returns when one holds the lock and the other is about to ask for it. */
        void awaitStart() {
            String unused = Fleet.answer(holder, TurnTaker.HOLDS, Duration.ZERO);
            waiter.send(orders);
            unused = Fleet.answer(waiter, TurnTaker.ASKS, Duration.ZERO);
        }

        void breakHolder(Outage outage) {
            broken = System.nanoTime();
            if (outage == Outage.HOLDER_KILLED) {
                holder.kill();
            } else {
                holder.stop();
            }
        }

        /** Returns how long it took the other to acquire the lock; the limit when it did not. */
        long awaitOther() {
            Duration left = LIMIT.minusNanos(System.nanoTime() - broken);
            try {
                String line = waiter.expect(
                        said -> said.startsWith(TurnTaker.HOLDS), left.isNegative() ? Duration.ZERO : left);
                return Long.parseLong(line.substring(TurnTaker.HOLDS.length())) - broken;
            } catch (AssertionError e) {
                return LIMIT.toNanos();
            }
        }

        LongStream turns() {
            return Stream.of(holder, waiter)
                    .flatMap(process -> process.lines().stream())
                    .filter(line -> line.startsWith(TurnTaker.HOLDS))
                    .mapToLong(line -> Long.parseLong(line.substring(TurnTaker.HOLDS.length())));
        }

        void awaitTurnAfter(long time) {
            long end = time + LIMIT.toNanos();
            while (turns().noneMatch(turn -> turn > time) && System.nanoTime() - end < 0) {
                Schedule.pause(BEFORE_AND_AFTER.dividedBy(10));
            }
        }

        @Override
        public void close() {
            holder.close();
            waiter.close();
        }
    }

    private static ChildProcess worker() {
        return ChildJvm.main(Worker.class)
                .flags(Fleet.FLAGS.toArray(String[]::new))
                .start();
    }
}
