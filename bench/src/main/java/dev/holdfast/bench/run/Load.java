package dev.holdfast.bench.run;

import java.time.Duration;

/**
 * What the threads do in a round: each, without pause, waits for its lock, holds it and gives it back.
 *
 * @param processes how many JVMs
 * @param clients how many clients in each of them, every one with its own connections and identity
 * @param threads how many threads use each client
 * @param locks whether all want one lock, or each its own
 * @param hold for how long the lock is held
 * @param roundTrip the round-trip time added between client and server
 */
public record Load(int processes, int clients, int threads, Locks locks, Duration hold, Duration roundTrip) {
    /** Which locks the threads want. */
    public enum Locks {
        /** Each thread its own. */
        OWN,
        /** All the same. */
        ONE,
        /** All the same read-write lock, of which 95 of 100 holds are reads. */
        ONE_MOSTLY_READ,
        /** All one of the permits of one semaphore. */
        ONE_SEMAPHORE,
        /** Each thread several of its own, held together. */
        OWN_SEVERAL,
        /** All the same several, held together. */
        ONE_SEVERAL
    }

    /** Own locks of one process. */
    public static Load own(int threads) {
        return new Load(1, 1, threads, Locks.OWN, Duration.ZERO, Duration.ZERO);
    }

    /** One lock for all. */
    public static Load one(int processes, int threads) {
        return new Load(processes, 1, threads, Locks.ONE, Duration.ZERO, Duration.ZERO);
    }

    /** The same, held for a time. */
    public Load holding(Duration time) {
        return new Load(processes, clients, threads, locks, time, roundTrip);
    }

    /** The same over a slower network. */
    public Load through(Duration time) {
        return new Load(processes, clients, threads, locks, hold, time);
    }

    /** The same on other locks. */
    public Load on(Locks others) {
        return new Load(processes, clients, threads, others, hold, roundTrip);
    }

    /** The same with more clients in each process. */
    public Load clients(int count) {
        return new Load(processes, count, threads, locks, hold, roundTrip);
    }

    /** All threads in one process: what the ceiling is measured with. */
    public Load inOneProcess() {
        return new Load(1, 1, contenders(), locks, hold, Duration.ZERO);
    }

    /** How many threads there are in all. */
    public int contenders() {
        return processes * clients * threads;
    }

    /** Whether the threads stand in each other's way. */
    public boolean isContended() {
        return locks != Locks.OWN && locks != Locks.OWN_SEVERAL && contenders() > 1;
    }
}
