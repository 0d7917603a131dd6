package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.Loss;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One grant of a {@link SharedQueue} and the open holds by it: many of readers, one at a time of permits.
 *
 * <pre>
 *   hold closed ──► others have holds by this grant? ── yes ──► it stays
 *                         │ no
 *                  permits wanted here, and within the bounds ──► the next hold, without the store
 *                         │ no
 *                  its release waits until the store sends
 * </pre>
 *
 * <p>Permits pass on as an {@linkplain ExclusiveQueue exclusive grant} does: to the next waiter if it wants as many and
 * the bounds allow it.
 *
 * <p>Guarded by the queue's mutex.
 */
final class SharedGrant {
    private static final Duration ASK_AGAIN = Duration.ofSeconds(1);

    final GrantState state;
    private final SharedQueue queue;
    private final Engine engine;
    private final Set<HoldState> holds = new LinkedHashSet<>();
    /** The holds that are no longer renewed; the grant is renewed until only these are left. */
    private final Set<HoldState> stopped = new LinkedHashSet<>();

    private Loss.@Nullable Cause whyStopped;
    /** By {@code nanoTime}: when readers began to join without another answer of the store. */
    private long openedAt;
    /** The store is being asked whether another client waits. */
    private boolean asking;
    /** The same for readers that wait here, or the store is asked again in a while. */
    private boolean askingForWaiters;
    /** The store has it as a writer's, whose holder reads: it could not be downgraded there. */
    boolean writersInStore;
    /** Its release is planned, once: a caller that comes before the store sends may still take the grant. */
    private boolean releasePlanned;

    SharedGrant(SharedQueue queue, GrantState state) {
        this.queue = queue;
        this.engine = queue.engine;
        this.state = state;
        this.openedAt = now();
    }

    /** Whether no caller has a hold by it. */
    boolean isFree() {
        return holds.isEmpty();
    }

    List<HoldState> holds() {
        return List.copyOf(holds);
    }

    /** Whether it can serve this waiter without another answer of the store; always the first after it was given. */
    boolean suits(Waiter waiter) {
        boolean asMany = queue.shared || state.grant().mode().equals(waiter.mode);
        return asMany
                && stopped.isEmpty()
                && state.isValid()
                && state.fits(waiter.options)
                && (state.isFresh() || (state.hasEnoughLease() && hasRoomFor(waiter.options)));
    }

    private boolean hasRoomFor(HoldOptions options) {
        return queue.shared ? mayJoin(options) : isFree() && state.mayHandOver(options);
    }

    /**
     * Whether one more reader may come in beside the others, or after them. A hold without auto-renewal never shares
     * its grant: its holder may make the lease shorter.
     */
    private boolean mayJoin(HoldOptions options) {
        return (isFree() || options.autoRenew())
                && !options.strictFifo()
                && state.hasTokenLeft()
                && now() - openedAt <= Durations.nanos(options.maxHandOverTime());
    }

    /**
     * The store is asked whether a writer of another client waits when half of the bound has passed, so that the answer
     * is there before the whole bound has passed and no reader waits for it.
     */
    private void askForWritersInTime(HoldOptions options, Effects then) {
        if (queue.shared && !asking && now() - openedAt > Durations.nanos(options.maxHandOverTime()) / 2) {
            ask((alone, effects) -> asking = false, then);
            asking = true;
        }
    }

    /** Asks the store whether this client is alone with the name: if so, the bound begins again. */
    private void ask(BiConsumer<Boolean, Effects> heard, Effects then) {
        then.add(new Ask(this, heard, new AtomicBoolean()));
    }

    private record Ask(SharedGrant of, BiConsumer<Boolean, Effects> heard, AtomicBoolean answered)
            implements Effects.Effect {
        @Override
        public void run() {
            of.engine.renewer.ask(of.state, this::answer);
        }

        @Override
        public void hasThrown(Throwable why) {
            answer(false);
        }

        private void answer(boolean alone) {
            of.queue.lock.transition(then -> {
                if (answered.compareAndSet(false, true)) { // else it was answered, and an Error came after that
                    of.openedAt = alone ? of.now() : of.openedAt;
                    heard.accept(alone, then);
                }
            });
        }
    }

    /** Whether no claim to read is granted beside it. A free one goes back now. */
    boolean isWritersInStore() {
        return writersInStore && !isFree();
    }

    /** Whether a reader may join while no other client waits; otherwise the reader needs a grant of its own. */
    boolean suitsIfAlone(HoldOptions options) {
        return options.autoRenew()
                && !options.strictFifo()
                && stopped.isEmpty()
                && state.hasTokenLeft()
                && state.fitsOnceSettled(options);
    }

    /** Has the waiting readers join once no other client waits; asks again in a while until then. */
    void serveIfAlone(Effects then) {
        if (!askingForWaiters) {
            ask(this::heardForWaiters, then);
            askingForWaiters = true;
        }
    }

    private void heardForWaiters(boolean alone, Effects then) {
        askingForWaiters = false;
        Waiter first = queue.waiters.peek();
        if (alone && queue.has(this) && first != null && mayServe(first)) {
            serve(null, then);
        } else {
            then.add(() -> engine.time.schedule(() -> queue.lock.transition(this::askAgain), ASK_AGAIN));
            askingForWaiters = true; // after it: an Error has it asked at once
        }
    }

    private void askAgain(Effects then) {
        askingForWaiters = false;
        if (queue.has(this)) {
            queue.nextIfIdle(then);
        }
    }

    /** Has one join who does not wait, if no other client waits. */
    void tryIfAlone(Waiter trying, Effects then) {
        ask((alone, effects) -> heardForTry(trying, alone, effects), then);
        queue.trying++;
    }

    private void heardForTry(Waiter trying, boolean alone, Effects then) {
        queue.trying--;
        boolean may = alone && queue.has(this) && queue.mayEnter(this, trying);
        if (may && queue.giveTo(trying, state, then)) {
            return;
        }
        try {
            queue.claim(trying, false, then);
        } catch (Throwable broken) { // nobody else would answer it
            queue.resolve(trying, broken, then);
        }
    }

    /** Admits one more caller that has just come; false if its outcome was set before. */
    boolean join(Waiter waiter, Effects then) {
        boolean entered = queue.giveTo(waiter, state, then);
        if (entered) {
            askForWritersInTime(waiter.options, then);
        }
        return entered;
    }

    /** A hold by it begins; or that of a writer goes on as a reader's. */
    void begun(HoldState made) {
        holds.add(made);
        if (queue.shared) {
            state.lastBeside(made);
        } else {
            state.given(made);
        }
    }

    void notTaken(HoldState made, @Nullable HoldState before) {
        holds.remove(made);
        if (queue.shared) {
            state.lastBeside(before);
        } else {
            state.notTaken(before);
        }
    }

    /**
     * Admits the callers that waited for it: one for permits; of readers all but those behind a writer.
     *
     * @param closer of the last hold by it, if it waits for the release; null if there is none
     */
    void serve(@Nullable CompletableFuture<Boolean> closer, Effects then) {
        for (Waiter first = queue.waiters.peek(); first != null && mayServe(first); first = queue.waiters.peek()) {
            if (queue.waiters.remove(first)) {
                queue.giveTo(first, state, then);
            }
        }
        if (isFree()) {
            release(closer, then);
        }
        queue.afterLeaving(then);
        queue.nextIfIdle(then);
    }

    private boolean mayServe(Waiter first) {
        return suits(first) && !(isFree() ? queue.isBehindWriterToClaim(first) : queue.isBehindWriter(first));
    }

    /**
     * Closes a hold by it; whether the grant goes back at once.
     *
     * @param givenBack completes with the store's answer, if it does; null if nobody waits for that
     */
    boolean close(HoldState closing, @Nullable CompletableFuture<Boolean> givenBack, Effects then) {
        if (!queue.closeIfOpen(closing, then)) {
            return false;
        }
        holds.remove(closing);
        stopped.remove(closing);
        if (queue.shared) {
            state.lastBeside(closing);
        }
        stopIfNoOtherHolds();
        if (isFree()) {
            freed(closing.options.awaitRelease(), givenBack, then);
        }
        return state.isGivenBack();
    }

    /**
     * A hold is no longer renewed. Others may hold by this grant: it goes on for them, admits no caller, and runs out
     * once only such holds are left.
     */
    boolean stopFor(HoldState hold, Loss.Cause cause) {
        if (!holds.contains(hold) || !stopped.add(hold)) {
            return false;
        }
        whyStopped = cause;
        stopIfNoOtherHolds();
        return true;
    }

    private void stopIfNoOtherHolds() {
        Loss.Cause why = whyStopped;
        if (why != null && !stopped.isEmpty() && stopped.containsAll(holds)) {
            state.stopRenewal(why);
        }
    }

    // ---- release ----

    /** The last hold by it was closed. */
    private void freed(boolean goesBackNow, @Nullable CompletableFuture<Boolean> closer, Effects then) {
        Waiter first = queue.waiters.peek();
        if (first != null && !queue.shared && queue.mayEnter(this, first)) {
            serve(closer, then);
        } else if (goesBackNow || first != null || !state.isValid()) {
            release(closer, then);
        } else if (!releasePlanned) {
            then.add(() -> engine.store.beforeSending(queue.name, () -> queue.lock.transition(this::releaseIfUnused)));
            releasePlanned = true;
        }
    }

    /** The store is about to send, and no caller took it over. */
    private void releaseIfUnused(Effects then) {
        releasePlanned = false;
        if (queue.has(this) && isFree()) {
            release(null, then);
        }
    }

    private void release(@Nullable CompletableFuture<Boolean> closer, Effects then) {
        giveBack(closer, then);
        queue.nextIfIdle(then);
    }

    void giveBack(@Nullable CompletableFuture<Boolean> closer, Effects then) {
        if (queue.lock.giveBack(state, state.lastHold(), closer, then)) {
            queue.dropGrant(state);
            engine.renewer.forget(state);
        }
    }

    /** It has ended otherwise than by its release. */
    void lost(Loss.Cause cause, Effects then) {
        holds().forEach(loser -> queue.tellLoss(loser, cause, then)); // first: if it fails, who closes finds the loss
        queue.dropGrant(state);
        if (state.mayStillStand(cause)) {
            then.add(new Effects.Release(queue.lock, state, null, new CompletableFuture<>()));
        }
        queue.nextIfIdle(then);
    }

    private long now() {
        return engine.time.nanoTime();
    }
}
