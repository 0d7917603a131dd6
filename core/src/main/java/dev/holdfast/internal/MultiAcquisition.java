package dev.holdfast.internal;

import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How several names are acquired together.
 *
 * <pre>
 *   a b c d e      all are tried at once, in one trip         held: a b . d e      c is not free
 *   a b            those behind c are released                held: a b
 *   a b c          c is waited for, in its queue              held: a b c
 *   a b c d e      the rest is tried at once ···
 * </pre>
 *
 * <p>Only the leading ones are kept during a wait, and all callers use one order of names. So no caller that waits for
 * a name holds a later one, and no cycle can arise (the ordering of resources, Havender, "Avoiding deadlock in
 * multitasking systems", IBM Systems Journal, 1968). A lock that was acquired out of turn is never kept during a wait.
 *
 * <p>If a hold ends during the wait for others, the acquisition begins again, so that all returned locks were held at
 * one moment.
 */
final class MultiAcquisition {
    private final EngineContext context;
    private final List<LockName> names;
    private final HoldOptions options;
    private final List<HoldHandle> held = new ArrayList<>();

    private MultiAcquisition(EngineContext context, List<LockName> names, HoldOptions options) {
        this.context = context;
        this.names = names;
        this.options = options;
    }

    /** Acquires all that {@link LockName#inOrder} ordered, if all are free right now. */
    static Optional<List<HoldHandle>> tryAcquire(EngineContext context, List<LockName> names, HoldOptions options) {
        MultiAcquisition all = new MultiAcquisition(context, names, options);
        StoreUnavailableException away = all.tryRest();
        if (away != null) {
            all.none();
            throw away;
        }
        return all.isComplete() ? Optional.of(all.held) : all.none();
    }

    /**
     * Acquires all that {@link LockName#inOrder} ordered.
     *
     * @param wait how long to wait for all of them together; null for ever
     */
    static Optional<List<HoldHandle>> acquire(
            EngineContext context, List<LockName> names, HoldOptions options, @Nullable Duration wait)
            throws InterruptedException {
        Durations.checkWait(wait);
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return new MultiAcquisition(context, names, options).acquire(wait);
    }

    private Optional<List<HoldHandle>> acquire(@Nullable Duration wait) throws InterruptedException {
        long since = context.time().nanoTime();
        boolean done = false;
        try {
            while (true) {
                StoreUnavailableException away = tryRest();
                if (isComplete()) {
                    done = true;
                    return Optional.of(held);
                }
                Duration left =
                        wait == null ? null : wait.minusNanos(context.time().nanoTime() - since);
                boolean isOver = left != null && (left.isNegative() || left.isZero());
                if (isOver && away != null) {
                    throw away;
                }
                if (isOver || !waitForNext(left)) {
                    return Optional.empty();
                }
            }
        } finally {
            if (!done) {
                none();
            }
        }
    }

    private boolean waitForNext(@Nullable Duration left) throws InterruptedException {
        Optional<HoldHandle> next = Acquisition.interruptibly(context, names.get(held.size()), options, false, left);
        next.ifPresent(held::add);
        return next.isPresent();
    }

    /**
     * Tries all that are not held yet, and keeps those before the first that is not free. If the store does not answer,
     * it returns the failure: a caller that waits outlasts the outage in the wait for the first name.
     */
    private @Nullable StoreUnavailableException tryRest() {
        List<Acquisition.Attempt> attempts = new ArrayList<>();
        for (LockName name : names.subList(held.size(), names.size())) {
            attempts.add(attempt(name));
        }
        StoreUnavailableException away = null;
        Throwable failure = null;
        List<HoldHandle> outOfTurn = new ArrayList<>();
        boolean inTurn = true;
        for (Acquisition.Attempt attempt : attempts) {
            Optional<HoldHandle> got = Optional.empty();
            try {
                got = attempt.outcome();
            } catch (StoreUnavailableException noAnswer) {
                away = away == null ? noAnswer : away;
            } catch (Throwable failed) { // also an Error: the other claims under way are awaited, and released
                failure = failure == null ? failed : failure;
            }
            inTurn &= got.isPresent();
            got.ifPresent(inTurn ? held::add : outOfTurn::add);
        }
        outOfTurn.forEach(MultiAcquisition::close);
        if (failure != null) {
            none();
            throw Failures.unchecked(failure);
        }
        return away;
    }

    /** An attempt that cannot even be made fails when its outcome is read, with those before it all under way. */
    private Acquisition.Attempt attempt(LockName name) {
        try {
            return Acquisition.attempt(context, name, options, false);
        } catch (Throwable failed) {
            return () -> {
                throw Failures.unchecked(failed);
            };
        }
    }

    /** Whether all are held now; releases what is held if one has ended meanwhile. */
    private boolean isComplete() {
        if (held.size() < names.size()) {
            return false;
        }
        if (held.stream().allMatch(HoldHandle::isValid)) {
            return true;
        }
        none();
        return false;
    }

    private Optional<List<HoldHandle>> none() {
        for (int i = held.size() - 1; i >= 0; i--) {
            close(held.get(i));
        }
        held.clear();
        return Optional.empty();
    }

    private static void close(HoldHandle anchor) {
        try {
            anchor.close(LockMode.EXCLUSIVE);
        } catch (HoldLostException ended) {
            // No caller received it, so no loss is reported.
        }
    }
}
