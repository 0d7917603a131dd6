package dev.holdfast.cli;

import dev.holdfast.Holder;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a store knows at one moment, for people.
 *
 * @param locks by name
 * @param queues who waits for each lock, in order; no names where the store keeps none
 * @param waiters what the store knows of those who wait
 * @param nanos of the monotonic clock, when it was read
 * @param took how long the store took to tell
 */
record Snapshot(
        Map<String, LockStatus> locks,
        Map<String, List<LockWaiter>> queues,
        Waiters waiters,
        long nanos,
        Duration took) {
    /** What a store knows of those who wait. */
    enum Waiters {
        /** Their names. */
        NAMED(""),
        /** Their number. */
        COUNTED("this store does not keep the waiters' names, so no circle of waiting can be detected"),
        /** Not even that. */
        UNKNOWN("this store does not know who waits, nor how many");

        /** Said where the names, or the number, would stand. */
        final String note;

        Waiters(String note) {
            this.note = note;
        }

        static Waiters of(LockClient client, Optional<List<LockWaiter>> named) {
            return named.isPresent() ? NAMED : client.capabilities().countsWaiters() ? COUNTED : UNKNOWN;
        }
    }

    static Snapshot of(LockClient client, String pattern) {
        long begin = System.nanoTime();
        Map<String, LockStatus> locks = new LinkedHashMap<>();
        client.list(pattern).forEach(lock -> locks.put(lock.name(), lock));
        Map<String, List<LockWaiter>> queues = new LinkedHashMap<>();
        Optional<List<LockWaiter>> named = client.waiters(pattern);
        named.orElse(List.of())
                .forEach(waiter -> queues.computeIfAbsent(waiter.name(), name -> new ArrayList<>())
                        .add(waiter));
        long end = System.nanoTime();
        return new Snapshot(locks, queues, Waiters.of(client, named), end, Duration.ofNanos(end - begin));
    }

    /** Of one lock, on a store that keeps no names of waiters. */
    static Snapshot unnamed(LockStatus lock, Waiters waiters) {
        return new Snapshot(Map.of(lock.name(), lock), Map.of(), waiters, System.nanoTime(), Duration.ZERO);
    }

    /** Nothing is held. */
    static Snapshot empty() {
        return new Snapshot(Map.of(), Map.of(), Waiters.NAMED, System.nanoTime(), Duration.ZERO);
    }

    boolean namesWaiters() {
        return waiters == Waiters.NAMED;
    }

    boolean countsWaiters() {
        return waiters != Waiters.UNKNOWN;
    }

    List<LockWaiter> queue(String name) {
        return queues.getOrDefault(name, List.of());
    }

    /** How many wait for all locks together. */
    int waiting() {
        return locks.values().stream().mapToInt(LockStatus::waiting).sum();
    }

    /** Those that matter most first: the most waiters for the longest time, then the longest holds. */
    List<LockStatus> byUrgency() {
        return locks.values().stream()
                .sorted(Comparator.comparingDouble(Snapshot::urgency)
                        .reversed()
                        .thenComparing(Comparator.comparing(Snapshot::age).reversed())
                        .thenComparing(LockStatus::name))
                .toList();
    }

    private static double urgency(LockStatus lock) {
        return (double) lock.waiting() * (1 + age(lock).toMillis());
    }

    private static Duration age(LockStatus lock) {
        return lock.grant().map(LockStatus.Held::heldFor).orElse(Duration.ZERO);
    }

    /** A thread of a process, for people. */
    static String party(Holder who) {
        String thread = who.thread().isEmpty() ? "" : "/" + who.thread();
        String label = who.label().isEmpty() ? "" : " (" + who.label() + ")";
        return Printable.text(who.host() + ":" + who.pid() + thread + label);
    }
}
