package dev.holdfast;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An event that a {@link LockListener} receives: one small record each. Every call that asks for a lock ends in exactly
 * one {@link Acquired} or {@link NotAcquired}, and every {@code Acquired} in exactly one {@link Released} or
 * {@link Loss} while its client lives:
 *
 * <pre>
 *   acquire() ──► Waiting ─┬─► Acquired ─┬─► (Renewed | RenewalFailed | Suspect | Leaked)* ─┬─► Released ─► (ReleaseFailed | Loss)?
 *   tryAcquire() ──────────┤             │                                                  └─► Loss
 *                          └─► NotAcquired
 * </pre>
 *
 * <p>A {@code Loss} after {@code Released} is one that the store reported only in answer to the release. Re-entry is no
 * event: the hold is the same. The refusal of a write to a thread that reads is no event: the thread never joined the queue.
 */
public sealed interface LockEvent
        permits LockEvent.Waiting,
                LockEvent.NotAcquired,
                LockEvent.Acquired,
                LockEvent.Released,
                LockEvent.Renewed,
                LockEvent.RenewalFailed,
                LockEvent.Suspect,
                LockEvent.Leaked,
                LockEvent.ReleaseFailed,
                Loss {

    /** The lock, without namespace. */
    String name();

    /** Where the lock lives, without secrets. */
    String store();

    /**
     * A caller asked for a lock and is prepared to wait. It may have the lock a moment later. {@code tryAcquire()}
     * without a time never waits.
     *
     * @param name the lock
     * @param store where it lives
     */
    record Waiting(String name, String store) implements LockEvent {}

    /**
     * A call that asked for a lock ended without it.
     *
     * @param name the lock
     * @param reason why
     * @param waited from the call until it was given up
     * @param store where it lives
     */
    record NotAcquired(String name, Reason reason, Duration waited, String store) implements LockEvent {

        /** Why a lock was not acquired. */
        public enum Reason {
            /** {@code tryAcquire()} without a time found it taken. */
            TAKEN,
            /** The time given to {@code tryAcquire} passed. */
            TIMED_OUT,
            /** The waiting thread was interrupted. */
            INTERRUPTED,
            /** The future of {@code acquireAsync} was cancelled, or completed by other code. */
            CANCELLED,
            /** The store could not be reached or refused; the caller got the exception. */
            STORE_FAILED,
            /** The client was closed. */
            CLIENT_CLOSED
        }
    }

    /**
     * A hold began.
     *
     * @param name the lock
     * @param token the hold's token
     * @param waited from the call until now
     * @param handedOver whether it came from another hold of this client, without asking the store for a new grant
     * @param store where it lives
     */
    record Acquired(String name, long token, Duration waited, boolean handedOver, String store) implements LockEvent {}

    /**
     * A hold was closed by its holder. The store's answer, if it is asked, comes later.
     *
     * @param name the lock
     * @param token the hold's token
     * @param held from its beginning until now
     * @param store where it lives
     */
    record Released(String name, long token, Duration held, String store) implements LockEvent {}

    /**
     * The store extended the lease of a hold.
     *
     * @param name the lock
     * @param token the hold's token
     * @param remaining how long it is surely held without another renewal
     * @param store where it lives
     */
    record Renewed(String name, long token, Duration remaining, String store) implements LockEvent {}

    /**
     * A renewal got no answer. The hold stays valid until its deadline, and is tried again before that.
     *
     * @param name the lock
     * @param token the hold's token
     * @param remaining how long it is surely held without another renewal
     * @param reason what the store reported, without secrets; null if it reported nothing about this hold
     * @param store where it lives
     */
    record RenewalFailed(
            String name,
            long token,
            Duration remaining,
            @Nullable String reason,
            String store) implements LockEvent {}

    /**
     * A hold is in doubt, because the connection broke or the machine slept: not valid until the store has confirmed
     * it, which the client requests at once.
     *
     * @param name the lock
     * @param token the hold's token
     * @param store where it lives
     */
    record Suspect(String name, long token, String store) implements LockEvent {}

    /**
     * A hold was never closed, and no code can close it any more. It is no longer renewed; a {@link Loss} follows when its lease
     * has run out.
     *
     * @param name the lock
     * @param token the hold's token
     * @param origin where and by which thread it was acquired, as far as that was recorded
     * @param store where it lives
     */
    record Leaked(String name, long token, String origin, String store) implements LockEvent {}

    /**
     * The store did not confirm a release. The client sends it again until the store answers, the lease has ended, or the
     * client is closed. The release of a grant of a session is repeated beyond its lease.
     *
     * @param name the lock
     * @param token the token of the grant: of the hold closed last, or one below it where holds were handed over
     * @param freeWithin the lease: the longest time until others can acquire the lock, unless a session outlives it
     * @param reason what the store reported, without secrets
     * @param store where it lives
     */
    record ReleaseFailed(String name, long token, Duration freeWithin, String reason, String store)
            implements LockEvent {}
}
