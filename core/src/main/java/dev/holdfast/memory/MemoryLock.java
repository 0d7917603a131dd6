package dev.holdfast.memory;

import dev.holdfast.Holder;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The state of one name: its holders, one exclusive or several together, and its waiters. Guarded by the store's mutex.
 */
final class MemoryLock {
    private static final int TOKENS_PER_NUMBER = 1024;

    /** A claim in the queue. */
    record Waiting(Claim claim, MemorySession session, Answer answer) {}

    /** When the store will check this lock by itself. */
    private record Wake(long at, TimeSource.Scheduled task) {}

    /** Receives the events of a grant. Called without the store's mutex. */
    interface Watcher {
        /** A claim waits for its lock. */
        void wanted();

        /** It was broken. */
        void broken();
    }

    /** The hold of a claim, and when it ends. */
    static final class Held {
        final Claim claim;
        final long since;
        Mode mode;
        long number;
        long expiresAt;
        boolean broken;
        /** Null unless its client has it watched. */
        @Nullable
        Watcher watcher;

        private Held(Claim claim, long since) {
            this.claim = claim;
            this.since = since;
            this.mode = claim.mode();
        }

        private boolean canShareWith(Mode other) {
            return mode.kind() == other.kind() && mode.kind() != LockMode.EXCLUSIVE;
        }

        private int permits() {
            return mode instanceof Mode.Permits some ? some.permits() : 0;
        }
    }

    final String name;
    // Most names have one holder, and no queue.
    final ArrayDeque<Waiting> queue = new ArrayDeque<>(1);
    private final Map<ClaimId, Held> holders = new LinkedHashMap<>(2);
    private @Nullable Wake wake;

    MemoryLock(String name) {
        this.name = name;
    }

    /** The hold of this claim, unless it was broken. */
    @Nullable
    Held heldBy(ClaimId id) {
        Held held = holders.get(id);
        return held == null || held.broken ? null : held;
    }

    /**
     * The hold of exactly this grant: the claim may have been repeated after it was lost, and then has a new number.
     */
    @Nullable
    Held heldBy(Grant grant) {
        Held held = heldBy(grant.id());
        return held == null || held.number != grant.number() ? null : held;
    }

    boolean isIdle() {
        return holders.isEmpty() && queue.isEmpty();
    }

    /** Whether a claim of this mode can be granted beside the holders. */
    boolean fits(Mode wanted) {
        boolean together = true;
        int out = 0;
        for (Held held : holders.values()) {
            together &= held.canShareWith(wanted);
            out += held.permits();
        }
        return together && !(wanted instanceof Mode.Permits some && out + some.permits() > some.of());
    }

    /** A repeated claim begins its lease again, and never ends it earlier: it may have been made longer. */
    Held holdBy(Claim claim, long now) {
        Held held = heldBy(claim.id());
        long expiry = now + claim.lease().toNanos();
        if (held == null) {
            held = new Held(claim, now);
            held.expiresAt = expiry;
            holders.put(claim.id(), held);
        } else if (held.expiresAt - expiry < 0) {
            held.expiresAt = expiry;
        }
        return held;
    }

    void free(ClaimId id) {
        holders.remove(id);
    }

    void expire(long now) {
        holders.values().removeIf(held -> now - held.expiresAt >= 0);
    }

    /** The grant of a number is no longer renewed; with {@code now} it has ended. Empty if there is none. */
    Optional<Held> breakGrant(long number, boolean now) {
        Optional<Held> shown =
                holders.values().stream().filter(held -> held.number == number).findFirst();
        shown.ifPresent(held -> {
            held.broken = true;
            if (now) {
                holders.remove(held.claim.id());
            }
        });
        return shown;
    }

    /** When the first lease runs out. */
    Optional<Long> firstExpiry() {
        return holders.values().stream().map(held -> held.expiresAt).reduce((a, b) -> a - b <= 0 ? a : b);
    }

    boolean isWakePlannedBy(long at) {
        return wake != null && wake.at - at <= 0;
    }

    /** Plans the next check, in place of any later one. */
    void planWake(long at, TimeSource.Scheduled task) {
        if (wake != null) {
            wake.task.cancel();
        }
        wake = new Wake(at, task);
    }

    /** The planned moment has come. */
    void wokenAt(long at) {
        if (wake != null && wake.at == at) {
            wake = null;
        }
    }

    /** Removes a claim from the queue; null if it is not there. */
    @Nullable
    Waiting dequeue(ClaimId id) {
        for (Iterator<Waiting> each = queue.iterator(); each.hasNext(); ) {
            Waiting waiting = each.next();
            if (waiting.claim().id().equals(id)) {
                each.remove();
                return waiting;
            }
        }
        return null;
    }

    /** The watchers to notify when a claim begins to wait. */
    List<Watcher> watchers() {
        return holders.values().stream()
                .map(held -> held.watcher)
                .filter(Objects::nonNull)
                .toList();
    }

    LockStatus status(long now) {
        Collection<Held> current = holders.values().stream()
                .filter(held -> now - held.expiresAt < 0)
                .toList();
        return current.stream()
                .findFirst()
                .map(held -> new LockStatus(name, Optional.of(seen(held, now)), queue.size()))
                .orElseGet(() -> LockStatus.free(name, queue.size()));
    }

    private static LockStatus.Held seen(Held held, long now) {
        Holder holder = held.claim.holder();
        return new LockStatus.Held(
                held.mode.kind(),
                held.number * TOKENS_PER_NUMBER,
                holder,
                Duration.ofNanos(now - held.since),
                Duration.ofNanos(held.expiresAt - now));
    }
}
