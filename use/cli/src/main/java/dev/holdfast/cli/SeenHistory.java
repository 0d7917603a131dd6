package dev.holdfast.cli;

import dev.holdfast.LockStatus;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What happened between one look and the next: grants, ends and losses; and how long each lock is usually held. Stores keep
 * no history, so this is what was seen since {@code top} was started; what came and went between two looks was not.
 *
 * <p>A hold that ended is taken for lost when its lease had not been renewed for so long that it must have run out. Breaks
 * are those of this user's {@link BreakJournal}.
 */
final class SeenHistory {
    private static final int EVENTS = 8;
    private static final int LENGTHS = 20;
    /** A name for each order would otherwise fill the memory within days. */
    static final int MOST_NAMES = 10_000;
    /** So many holds must have ended before anything is usual. */
    private static final int ENOUGH = 3;
    /** A hold is beyond the usual length when it is so many times as long as the median. */
    private static final int TIMES = 3;

    private static final Duration NOTHING_UNUSUAL = Duration.ofSeconds(1);

    /** Of the locks whose holds ended last. */
    private final Map<String, Deque<Duration>> lengths = new LinkedHashMap<>();

    private final Deque<Event> events = new ArrayDeque<>();
    private Map<String, LockStatus> before = Map.of();
    private long beforeNanos;
    private boolean isFirst = true;

    /**
     * Something that was seen.
     *
     * @param at when it was seen, to the second
     * @param what {@code granted}, {@code ended}, {@code lost} or {@code broken}
     * @param name the lock
     * @param who held it
     */
    record Event(Instant at, String what, String name, String who) {
        Map<String, Object> json() {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("at", at.toString());
            fields.put("what", what);
            fields.put("name", name);
            fields.put("who", who);
            return fields;
        }
    }

    /** Compares a snapshot with the one before. */
    void add(Snapshot now, List<BreakJournal.Entry> breaks) {
        if (!isFirst) {
            before.forEach((name, lock) -> lock.grant().ifPresent(held -> {
                if (token(now.locks().get(name)) != held.token()) {
                    ended(name, held, now.nanos() - beforeNanos, breaks);
                }
            }));
            now.locks()
                    .forEach((name, lock) -> lock.grant().ifPresent(held -> {
                        if (token(before.get(name)) != held.token()) {
                            tell("granted", name, Snapshot.party(held.holder()));
                        }
                    }));
        }
        before = now.locks();
        beforeNanos = now.nanos();
        isFirst = false;
    }

    private static long token(@Nullable LockStatus lock) {
        return lock == null ? -1 : lock.grant().map(LockStatus.Held::token).orElse(-1L);
    }

    private void ended(String name, LockStatus.Held held, long sinceNanos, List<BreakJournal.Entry> breaks) {
        boolean broken =
                breaks.stream().anyMatch(each -> each.confirmed() && each.isOf(name) && each.token() == held.token());
        boolean ranOut = held.leaseLeft().toNanos() <= sinceNanos;
        tell(broken ? "broken" : ranOut ? "lost" : "ended", name, Snapshot.party(held.holder()));
        if (!broken && !ranOut) {
            remember(name, held.heldFor().plusNanos(sinceNanos / 2));
        }
    }

    private void remember(String name, Duration length) {
        Deque<Duration> known = Objects.requireNonNullElseGet(lengths.remove(name), ArrayDeque::new);
        known.addLast(length);
        if (known.size() > LENGTHS) {
            known.removeFirst();
        }
        lengths.put(name, known); // as the last one
        if (lengths.size() > MOST_NAMES) {
            lengths.remove(lengths.keySet().iterator().next());
        }
    }

    /** Of how many locks it is known how long they are usually held. */
    int names() {
        return lengths.size();
    }

    private void tell(String what, String name, String who) {
        events.addFirst(new Event(Instant.now().truncatedTo(ChronoUnit.SECONDS), what, name, who));
        if (events.size() > EVENTS) {
            events.removeLast();
        }
    }

    /** The last events, the latest first. */
    List<Event> events() {
        return List.copyOf(events);
    }

    /** Whether a lock is held for much longer than it usually was while this watched. */
    boolean isBeyondUsual(LockStatus lock) {
        Deque<Duration> known = lengths.get(lock.name());
        if (known == null || known.size() < ENOUGH || !lock.isHeld()) {
            return false;
        }
        Duration median =
                known.stream().sorted().skip(known.size() / 2).findFirst().orElse(Duration.ZERO);
        Duration held = Objects.requireNonNull(lock.grant().orElse(null)).heldFor();
        return held.compareTo(NOTHING_UNUSUAL) > 0 && held.compareTo(median.multipliedBy(TIMES)) > 0;
    }
}
