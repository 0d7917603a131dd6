package dev.holdfast.internal;

import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.internal.AsyncAcquisition.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
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
 *
 * <p>A thread makes the steps itself. A future has no thread: whoever completes one step makes the next ({@link AsFuture}).
 */
final class MultiAcquisition {
    private final EngineContext context;
    private final List<LockName> names;
    private final HoldOptions options;
    private final @Nullable Duration wait;
    private final long since;
    private final List<HoldHandle> held = new ArrayList<>();

    /** @param wait how long to wait for all of them together; null for ever */
    private MultiAcquisition(
            EngineContext context, List<LockName> names, HoldOptions options, @Nullable Duration wait) {
        this.context = context;
        this.names = names;
        this.options = options;
        this.wait = wait;
        this.since = context.time.nanoTime();
    }

    /** Acquires all that {@link LockName#inOrder} ordered, if all are free right now. */
    static Optional<List<HoldHandle>> tryAcquire(EngineContext context, List<LockName> names, HoldOptions options) {
        MultiAcquisition all = new MultiAcquisition(context, names, options, Duration.ZERO);
        return all.tryRest() ? Optional.empty() : all.got();
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
        return new MultiAcquisition(context, names, options, wait).acquire();
    }

    /**
     * Acquires all that {@link LockName#inOrder} ordered, without a thread.
     *
     * @param wait how long to wait for all of them together; null for ever
     * @param answer what the future completes with: all, or nothing where the time has passed
     */
    static <H> CompletableFuture<H> start(
            EngineContext context,
            List<LockName> names,
            HoldOptions options,
            @Nullable Duration wait,
            Function<Optional<List<HoldHandle>>, H> answer) {
        context.throwIfClosed();
        return new AsFuture<>(new MultiAcquisition(context, names, options, wait), answer).start();
    }

    private Optional<List<HoldHandle>> acquire() throws InterruptedException {
        try {
            while (tryRest() && waitedFor(Acquisition.interruptibly(context, next(), options, false, left()))) {
                // the rest is tried again
            }
            return got();
        } catch (Throwable broken) { // also an interrupt
            giveAllBack();
            throw broken;
        }
    }

    private boolean tryRest() {
        return keep(rest().stream().map(this::attempt).toList());
    }

    private LockName next() {
        return names.get(held.size());
    }

    private List<LockName> rest() {
        return names.subList(held.size(), names.size());
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

    /**
     * Keeps what was tried before the first name that is not free. If the store does not answer, a caller that waits outlasts
     * the outage in the wait for the first name. Where it throws, or the time has passed, nothing is held.
     *
     * @return whether the next name is to be waited for
     */
    private boolean keep(List<Acquisition.Attempt> attempts) {
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
        giveBack(outOfTurn);
        if (failure == null && isComplete()) {
            return false;
        }
        Duration left = left();
        if (failure == null && (left == null || !left.isZero())) {
            return true;
        }
        giveAllBack();
        Throwable why = failure == null ? away : failure;
        if (why != null) {
            throw Failures.unchecked(why);
        }
        return false;
    }

    /** Keeps the name that was waited for; false, with nothing held, if the time has passed. */
    private boolean waitedFor(Optional<HoldHandle> next) {
        next.ifPresentOrElse(held::add, this::giveAllBack);
        return next.isPresent();
    }

    /** At the end all are held, or none. */
    private Optional<List<HoldHandle>> got() {
        return held.isEmpty() ? Optional.empty() : Optional.of(List.copyOf(held));
    }

    /** Whether all are held now; releases what is held if one has ended meanwhile. */
    private boolean isComplete() {
        if (held.size() < names.size()) {
            return false;
        }
        if (held.stream().allMatch(HoldHandle::isValid)) {
            return true;
        }
        giveAllBack();
        return false;
    }

    /** What is left of the time; null for ever. */
    private @Nullable Duration left() {
        return wait == null ? null : Durations.left(wait, since, context.time);
    }

    private void giveAllBack() {
        List<HoldHandle> all = List.copyOf(held);
        held.clear();
        giveBack(all);
    }

    /** Releases what no caller received, so no loss is reported; each though another throws. */
    private void giveBack(List<HoldHandle> unwanted) {
        Effects returns = new Effects();
        for (int i = unwanted.size() - 1; i >= 0; i--) {
            HoldHandle one = unwanted.get(i);
            returns.add(() -> giveBack(one));
        }
        returns.run();
    }

    private void giveBack(HoldHandle unwanted) {
        if (!options.reentrant()) {
            unwanted.giveBack();
            return;
        }
        try {
            unwanted.close(LockMode.EXCLUSIVE); // one entry: the thread may have others
        } catch (HoldLostException ended) {
            // an earlier entry reports it
        }
    }

    /**
     * The same steps without a thread. Each begins when the one before has ended, so that what is held has one writer at a
     * time.
     *
     * @param <H> what the caller holds
     */
    private static final class AsFuture<H> {
        private final MultiAcquisition all;
        private final Function<Optional<List<HoldHandle>>, H> answer;
        private final CompletableFuture<H> future = new CompletableFuture<>();
        private final SerialRunner steps = new SerialRunner();
        private volatile List<CompletableFuture<Optional<HoldHandle>>> underWay = List.of();

        AsFuture(MultiAcquisition all, Function<Optional<List<HoldHandle>>, H> answer) {
            this.all = all;
            this.answer = answer;
        }

        CompletableFuture<H> start() {
            steps.run(() -> step(this::tryRest));
            future.whenComplete((hold, failure) -> callOff());
            return future;
        }

        private void tryRest() {
            List<CompletableFuture<Optional<HoldHandle>>> tried =
                    all.rest().stream().map(name -> ask(name, Duration.ZERO)).toList();
            await(tried, () -> {
                if (all.keep(tried.stream().map(AsFuture::attempt).toList())) {
                    waitForNext();
                } else {
                    complete();
                }
            });
        }

        private void waitForNext() {
            CompletableFuture<Optional<HoldHandle>> next = ask(all.next(), all.left());
            await(List.of(next), () -> {
                if (all.waitedFor(attempt(next).outcome())) {
                    tryRest();
                } else {
                    complete();
                }
            });
        }

        private void complete() {
            if (!future.complete(answer.apply(all.got()))) {
                all.giveAllBack();
            }
        }

        private CompletableFuture<Optional<HoldHandle>> ask(LockName name, @Nullable Duration wait) {
            try {
                return AsyncAcquisition.start(
                        all.context,
                        name,
                        all.options,
                        all.context.completing(),
                        Optional::of,
                        got -> got.ifPresent(HoldHandle::giveBack),
                        wait == null ? null : new Limit<>(wait, Optional.empty()));
            } catch (Throwable failed) { // the client is closed; or an Error
                return CompletableFuture.failedFuture(failed);
            }
        }

        private void await(List<CompletableFuture<Optional<HoldHandle>>> asked, Runnable then) {
            underWay = asked;
            CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
                    .whenComplete((all, failure) -> steps.run(() -> step(then)));
            if (future.isDone()) {
                callOff(); // it was cancelled before this step was visible
            }
        }

        /** An Error must not leave the future incomplete. */
        private void step(Runnable then) {
            try {
                then.run();
            } catch (Throwable failed) {
                try {
                    all.giveAllBack();
                } finally {
                    future.completeExceptionally(failed);
                }
            }
        }

        /** Leaves the queues; the acquired locks are released when the step has ended because of that. */
        private void callOff() {
            underWay.forEach(asked -> asked.cancel(false));
        }

        private static Acquisition.Attempt attempt(CompletableFuture<Optional<HoldHandle>> done) {
            return () -> {
                try {
                    return done.join();
                } catch (CompletionException failed) {
                    throw Failures.unchecked(Failures.cause(failed));
                }
            };
        }
    }
}
