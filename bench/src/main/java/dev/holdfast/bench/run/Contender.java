package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.Peer.Mode;
import dev.holdfast.bench.peer.Peer.PeerLock;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * One thread of a round. It asks for its lock again and again until the round is over, and stays in line for the last
 * one: a wait that began in the round is counted with its whole length, however long after the end it ended.
 */
final class Contender {
    private static final int READS_OF_A_HUNDRED = 95;

    private final Orders orders;
    private final SharedPage page;
    private final Peer peer;
    private final String name;

    private final Histogram waits = Tally.histogram();
    private final Histogram writers = Tally.histogram();
    private final Histogram handOvers = Tally.histogram();
    private long turns;
    private long all;
    private long updates;
    private long overlaps;

    Contender(Orders orders, SharedPage page, Peer peer, int client, int thread) {
        this.orders = orders;
        this.page = page;
        this.peer = peer;
        this.name = switch (orders.locks()) {
            case OWN, OWN_SEVERAL -> "own-" + orders.worker() + "-" + client + "-" + thread;
            case ONE -> "one";
            case ONE_MOSTLY_READ -> "one-read-write";
            case ONE_SEMAPHORE -> "one-semaphore";
            case ONE_SEVERAL -> "several";
        };
    }

    /** Opens what it needs; on the thread that will run. */
    List<PeerLock> open() throws Exception {
        return switch (orders.locks()) {
            case OWN, ONE -> List.of(peer.open(name, Mode.EXCLUSIVE));
            case ONE_MOSTLY_READ -> List.of(peer.open(name, Mode.READ), peer.open(name, Mode.WRITE));
            case ONE_SEMAPHORE -> List.of(peer.open(name, Mode.PERMIT));
            case OWN_SEVERAL, ONE_SEVERAL -> List.of(peer.open(name, Mode.SEVERAL));
        };
    }

    /** Takes turns from one {@link System#nanoTime} to another. */
    void run(List<PeerLock> locks, long from, long until) throws Exception {
        while (System.nanoTime() - from < 0) {
            LockSupport.parkNanos(from - System.nanoTime());
        }
        for (long asked = System.nanoTime(); asked - until < 0; asked = System.nanoTime()) {
            boolean reads = locks.size() > 1 && ThreadLocalRandom.current().nextInt(100) < READS_OF_A_HUNDRED;
            PeerLock lock = locks.get(locks.size() > 1 && !reads ? 1 : 0);
            lock.acquire();
            long got = System.nanoTime();
            waits.recordValue(got - asked);
            all++;
            if (got - until < 0) {
                turns++;
            }
            switch (orders.locks()) {
                case OWN, OWN_SEVERAL -> hold(got);
                case ONE, ONE_SEVERAL -> write(asked, got);
                case ONE_MOSTLY_READ -> readOrWrite(reads, asked, got);
                case ONE_SEMAPHORE -> share(got);
            }
            lock.release();
        }
    }

    Tally tally() {
        return new Tally(List.of(turns), all, updates, overlaps, waits, writers, handOvers, 0, 0);
    }

    /** Alone, or so it should be. */
    private void write(long asked, long got) {
        long released = page.releasedAt();
        if (released - asked > 0 && got - released > 0 && page.releasedBy() != orders.worker()) {
            handOvers.recordValue(got - released);
        }
        long before = page.counter();
        hold(got);
        page.counter(before + 1);
        updates++;
        page.releasing(orders.worker());
    }

    private void readOrWrite(boolean reads, long asked, long got) {
        if (!reads) {
            writers.recordValue(got - asked);
            write(asked, got);
            return;
        }
        long before = page.counter();
        hold(got);
        if (page.counter() != before) {
            overlaps++;
        }
    }

    private void share(long got) {
        if (page.enter() > Peer.PERMITS) {
            overlaps++;
        }
        hold(got);
        page.leave();
    }

    private void hold(long got) {
        long end = got + orders.holdNanos();
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }
}
