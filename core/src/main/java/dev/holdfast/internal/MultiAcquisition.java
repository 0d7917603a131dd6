package dev.holdfast.internal;

import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Supplier;
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
 * <p>A thread makes the steps itself. A future has no thread: whoever completes one step makes the next ({@link InFuture}). Immutable and thread-safe.
 */
public final class MultiAcquisition {
    private final Engine engine;
    private final List<Acquisition> locks;
    private final HoldOptions options;

    /** @param names in the order of {@link LockName#inOrder} */
    MultiAcquisition(Engine engine, List<LockName> names, HoldOptions options) {
        this.engine = engine;
        this.locks = names.stream()
                .map(name -> new Acquisition(engine, name, options, false))
                .toList();
        this.options = options;
    }

    /** Acquires all, if all are free right now. */
    public Optional<List<HoldHandle>> tryAcquire() {
        Steps steps = new Steps(Duration.ZERO);
        return steps.tryRest() ? Optional.empty() : steps.got();
    }

    /**
     * Acquires all.
     *
     * @param wait how long to wait for all of them together; null for ever
     */
    public Optional<List<HoldHandle>> acquire(@Nullable Duration wait) throws InterruptedException {
        Durations.checkWait(wait);
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Steps steps = new Steps(wait);
        try {
            while (steps.tryRest() && steps.waitedFor(steps.next().acquire(steps.left()))) {
                // the rest is tried again
            }
            return steps.got();
        } catch (Throwable broken) { // also an interrupt
            steps.giveAllBack();
            throw broken;
        }
    }

    /** Acquires all without a thread, waiting as long as it takes. */
    public <H> CompletableFuture<H> acquireAsync(Function<List<HoldHandle>, H> wrap) {
        return start(null, all -> wrap.apply(all.orElseThrow()));
    }

    /** Acquires all without a thread, waiting for a time. */
    public <H> CompletableFuture<Optional<H>> tryAcquireAsync(Duration wait, Function<List<HoldHandle>, H> wrap) {
        Durations.checkWait(wait);
        return start(wait, all -> all.map(wrap));
    }

    private <R> CompletableFuture<R> start(@Nullable Duration wait, Function<Optional<List<HoldHandle>>, R> result) {
        Acquisition.refuseThreads(options);
        engine.throwIfClosed();
        return new InFuture<>(new Steps(wait), result).start();
    }

    /** What is held so far, and what comes next; for one thread at a time. */
    private final class Steps {
        private final @Nullable Duration wait;
        private final long since = engine.time.nanoTime();
        private final List<HoldHandle> held = new ArrayList<>();

        /** @param wait how long to wait for all of them together; null for ever */
        Steps(@Nullable Duration wait) {
            this.wait = wait;
        }

        boolean tryRest() {
            return keep(rest().stream().map(this::attempt).toList());
        }

        Acquisition next() {
            return locks.get(held.size());
        }

        List<Acquisition> rest() {
            return locks.subList(held.size(), locks.size());
        }

        /** An attempt that cannot even be made fails when its outcome is read, with those before it all under way. */
        private Supplier<Optional<HoldHandle>> attempt(Acquisition lock) {
            try {
                return lock.attempt();
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
        boolean keep(List<Supplier<Optional<HoldHandle>>> attempts) {
            StoreUnavailableException away = null;
            Throwable failure = null;
            List<HoldHandle> outOfTurn = new ArrayList<>();
            boolean inTurn = true;
            for (Supplier<Optional<HoldHandle>> attempt : attempts) {
                Optional<HoldHandle> got = Optional.empty();
                try {
                    got = attempt.get();
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
        boolean waitedFor(Optional<HoldHandle> next) {
            next.ifPresentOrElse(held::add, this::giveAllBack);
            return next.isPresent();
        }

        /** At the end all are held, or none. */
        Optional<List<HoldHandle>> got() {
            return held.isEmpty() ? Optional.empty() : Optional.of(List.copyOf(held));
        }

        /** Whether all are held now; releases what is held if one has ended meanwhile. */
        private boolean isComplete() {
            if (held.size() < locks.size()) {
                return false;
            }
            if (held.stream().allMatch(HoldHandle::isValid)) {
                return true;
            }
            giveAllBack();
            return false;
        }

        /** What is left of the time; null for ever. */
        @Nullable
        Duration left() {
            return wait == null ? null : Durations.left(wait, since, engine.time);
        }

        void giveAllBack() {
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
    }

    /**
     * The same steps without a thread. Each begins when the one before has ended, so that what is held has one writer at a
     * time.
     *
     * @param <R> what the future completes with: all or, within a time, perhaps none
     */
    private static final class InFuture<R> {
        private final Steps steps;
        private final Function<Optional<List<HoldHandle>>, R> result;
        private final CompletableFuture<R> future = new CompletableFuture<>();
        private final SerialRunner turns = new SerialRunner();
        private volatile List<CompletableFuture<Optional<HoldHandle>>> underWay = List.of();

        InFuture(Steps steps, Function<Optional<List<HoldHandle>>, R> result) {
            this.steps = steps;
            this.result = result;
        }

        CompletableFuture<R> start() {
            turns.run(() -> step(this::tryRest));
            future.whenComplete((hold, failure) -> callOff());
            return future;
        }

        private void tryRest() {
            List<CompletableFuture<Optional<HoldHandle>>> tried =
                    steps.rest().stream().map(lock -> ask(lock, Duration.ZERO)).toList();
            await(tried, () -> {
                if (steps.keep(tried.stream().map(InFuture::attempt).toList())) {
                    waitForNext();
                } else {
                    complete();
                }
            });
        }

        private void waitForNext() {
            CompletableFuture<Optional<HoldHandle>> next = ask(steps.next(), steps.left());
            await(List.of(next), () -> {
                if (steps.waitedFor(attempt(next).get())) {
                    tryRest();
                } else {
                    complete();
                }
            });
        }

        private void complete() {
            if (!future.complete(result.apply(steps.got()))) {
                steps.giveAllBack();
            }
        }

        private static CompletableFuture<Optional<HoldHandle>> ask(Acquisition lock, @Nullable Duration wait) {
            try {
                return lock.start(wait);
            } catch (Throwable failed) { // the client is closed; or an Error
                return CompletableFuture.failedFuture(failed);
            }
        }

        private void await(List<CompletableFuture<Optional<HoldHandle>>> asked, Runnable then) {
            underWay = asked;
            CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
                    .whenComplete((all, failure) -> turns.run(() -> step(then)));
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
                    steps.giveAllBack();
                } finally {
                    future.completeExceptionally(failed);
                }
            }
        }

        /** Leaves the queues; the acquired locks are released when the step has ended because of that. */
        private void callOff() {
            underWay.forEach(asked -> asked.cancel(false));
        }

        private static Supplier<Optional<HoldHandle>> attempt(CompletableFuture<Optional<HoldHandle>> done) {
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
