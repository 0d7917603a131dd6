package dev.holdfast.memory;

import dev.holdfast.Holder;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The state of one name. Guarded by the store's mutex. */
final class MemoryLock {
    private static final int TOKENS_PER_NUMBER = 1024;

    /** A claim in the queue. */
    record Waiting(Claim claim, MemorySession session, CompletableFuture<Optional<Grant>> answer) {}

    /** When the store will look at this lock by itself. */
    private record Wake(long at, TimeSource.Scheduled task) {}

    final String name;
    final ArrayDeque<Waiting> queue = new ArrayDeque<>();
    long number;
    long expiresAt;
    boolean revoked;
    private @Nullable Wake wake;
    private @Nullable Claim held;
    private long since;

    MemoryLock(String name) {
        this.name = name;
    }

    boolean isHeld() {
        return held != null;
    }

    /** Whether this claim holds it, and was not revoked. */
    boolean isHeldBy(ClaimId id) {
        return held != null && !revoked && held.id().equals(id);
    }

    /** Whether this very grant holds it: the claim may have come again after it was lost, and has a new number then. */
    boolean isHeldBy(Grant grant) {
        return isHeldBy(grant.id()) && number == grant.number();
    }

    boolean isIdle() {
        return held == null && queue.isEmpty();
    }

    /** A claim that is repeated counts its lease anew, and never ends it earlier: it may have been made longer. */
    void holdBy(Claim claim, long now) {
        boolean again = isHeldBy(claim.id());
        long expiry = now + claim.lease().toNanos();
        since = again ? since : now;
        expiresAt = again && expiresAt - expiry > 0 ? expiresAt : expiry;
        held = claim;
        revoked = false;
    }

    void free() {
        held = null;
        revoked = false;
    }

    void expire(long now) {
        if (held != null && now - expiresAt >= 0) {
            free();
        }
    }

    boolean isWakePlannedBy(long at) {
        return wake != null && wake.at - at <= 0;
    }

    /** Plans to look again, in place of any later plan. */
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

    /** Takes a claim out of the queue; null if it is not there. */
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

    LockStatus status(long now) {
        Claim holding = held;
        if (holding == null || now - expiresAt >= 0) {
            return LockStatus.free(name, queue.size());
        }
        Holder holder = holding.holder();
        return new LockStatus(
                name,
                Optional.of(new LockStatus.Held(
                        holding.mode().kind(),
                        number * TOKENS_PER_NUMBER,
                        holder,
                        Duration.ofNanos(now - since),
                        Duration.ofNanos(expiresAt - now))),
                queue.size());
    }
}
