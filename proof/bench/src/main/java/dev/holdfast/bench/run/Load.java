package dev.holdfast.bench.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What the threads do in a round: each waits for its lock, holds it, releases it and pauses.
 *
 * @param processes how many JVMs
 * @param clients how many clients in each of them, every one with its own connections and identity
 * @param threads how many threads use each client
 * @param locks whether all want one lock, or each its own, or which of many names
 * @param hold for how long the lock is held
 * @param roundTrip the round-trip time added between client and server
 * @param pace how long a thread pauses between turns; with a pace the loop is open, see {@link Schedule}
 * @param patience how long a thread waits for the lock before it does without
 */
public record Load(
        int processes,
        int clients,
        int threads,
        Locks locks,
        Duration hold,
        Duration roundTrip,
        Pace pace,
        Duration patience) {
    /** As long as it takes. */
    public static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

    private static final int MANY_THREADS = 16;
    private static final double NANOS_PER_SECOND = 1e9;

    /** Which locks the threads want. */
    public enum Locks {
        /** Each thread its own. */
        OWN,
        /** All the same. */
        ONE,
        /** All the same, which a process beside them holds all the time. */
        KEPT,
        /** All the same read-write lock, of which 95 of 100 holds are reads. */
        ONE_MOSTLY_READ,
        /** All one of the permits of one semaphore. */
        ONE_SEMAPHORE,
        /** Each thread several of its own, held together. */
        OWN_SEVERAL,
        /** All the same several, held together. */
        ONE_SEVERAL,
        /** Two hundred names, half of the time one of the same twenty. */
        OF_A_SERVICE,
        /** A hundred thousand names, of which few are taken often. */
        ZIPF,
        /** A new name for each turn. */
        ONCE;

        /** Whether a turn picks one of many names. */
        public boolean isOneOfMany() {
            return this == OF_A_SERVICE || this == ZIPF || this == ONCE;
        }

        private boolean isOwn() {
            return this == OWN || this == OWN_SEVERAL || this == ONCE;
        }
    }

    /** Own locks of one process. */
    public static Load own(int threads) {
        return new Load(1, 1, threads, Locks.OWN, Duration.ZERO, Duration.ZERO, Pace.NONE, FOREVER);
    }

    /** One lock for all. */
    public static Load one(int processes, int threads) {
        return new Load(processes, 1, threads, Locks.ONE, Duration.ZERO, Duration.ZERO, Pace.NONE, FOREVER);
    }

    /** The same, held for a time. */
    public Load holding(Duration time) {
        return new Load(processes, clients, threads, locks, time, roundTrip, pace, patience);
    }

    /** The same over a slower network. */
    public Load through(Duration time) {
        return new Load(processes, clients, threads, locks, hold, time, pace, patience);
    }

    /** The same on other locks. */
    public Load on(Locks others) {
        return new Load(processes, clients, threads, others, hold, roundTrip, pace, patience);
    }

    /** The same with more clients in each process. */
    public Load clients(int count) {
        return new Load(processes, count, threads, locks, hold, roundTrip, pace, patience);
    }

    /** The same with a pause after each turn. */
    public Load at(Pace other) {
        return new Load(processes, clients, threads, locks, hold, roundTrip, other, patience);
    }

    /** The same with tries that wait at most so long; zero for those that do not wait. */
    public Load tryingFor(Duration time) {
        return new Load(processes, clients, threads, locks, hold, roundTrip, pace, time);
    }

    /** All threads in one process: what the ceiling is measured with. */
    public Load inOneProcess() {
        return new Load(1, 1, contenders(), locks, hold, Duration.ZERO, pace, patience);
    }

    /** The same without pauses and holds: what a JVM is warmed up with. */
    Load saturated() {
        return holding(Duration.ZERO).at(Pace.NONE);
    }

    /** Many threads with own locks over the same connections: what a new JVM is warmed up with first. */
    Load saturatedOwn() {
        int busy = clients > 1 ? threads : Math.max(threads, MANY_THREADS);
        return new Load(processes, clients, busy, Locks.OWN, Duration.ZERO, roundTrip, Pace.NONE, FOREVER);
    }

    /** How many threads there are in all. */
    public int contenders() {
        return processes * clients * threads;
    }

    /** How many processes take part, with the one that holds the lock beside them. */
    int team() {
        return locks == Locks.KEPT ? processes + 1 : processes;
    }

    /** Whether the threads stand in each other's way all the time. */
    public boolean isContended() {
        return !locks.isOwn() && !locks.isOneOfMany() && locks != Locks.KEPT && contenders() > 1;
    }

    /** Whether turns have intended starts. */
    public boolean isPaced() {
        return !pace.isNone();
    }

    /** Whether a thread may come away without the lock. */
    public boolean isTry() {
        return !patience.equals(FOREVER);
    }

    /** How many turns a second are meant to begin; only with a pace. */
    public double intendedPerSecond() {
        return contenders() * NANOS_PER_SECOND / hold.plus(pace.mean()).toNanos();
    }

    String toWord() {
        return String.join(
                ",",
                List.of(
                        Integer.toString(processes),
                        Integer.toString(clients),
                        Integer.toString(threads),
                        locks.name(),
                        Long.toString(hold.toNanos()),
                        Long.toString(roundTrip.toNanos()),
                        Long.toString(pace.least().toNanos()),
                        Long.toString(pace.most().toNanos()),
                        Long.toString(patience.toNanos())));
    }

    static Load parse(String word) {
        List<String> words = new ArrayList<>(Arrays.asList(word.split(",")));
        return new Load(
                Integer.parseInt(words.remove(0)),
                Integer.parseInt(words.remove(0)),
                Integer.parseInt(words.remove(0)),
                Locks.valueOf(words.remove(0)),
                nanos(words.remove(0)),
                nanos(words.remove(0)),
                new Pace(nanos(words.remove(0)), nanos(words.remove(0))),
                nanos(words.remove(0)));
    }

    private static Duration nanos(String word) {
        return Duration.ofNanos(Long.parseLong(word));
    }
}
