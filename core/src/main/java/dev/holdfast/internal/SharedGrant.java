package dev.holdfast.internal;

import static dev.holdfast.internal.Deferred.NOTHING;
import static dev.holdfast.internal.Deferred.all;
import static dev.holdfast.internal.Deferred.both;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
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
 * <p>Permits pass on as an {@linkplain ExclusiveGrant exclusive grant} does: to the next waiter if it wants as many and
 * the bounds allow it.
 *
 * <p>Guarded by the queue's mutex. The steps that its methods return run after the mutex is free.
 */
final class SharedGrant {
    private static final Duration ASK_AGAIN = Duration.ofSeconds(1);

    final GrantState state;
    private final TokenBlock tokens;
    private final SharedQueue queue;
    private final EngineContext context;
    private final boolean shared;
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
    private boolean writersInStore;
    /** Its release is planned, once: a caller that comes before the store sends may still take the grant. */
    private boolean releasePlanned;

    SharedGrant(SharedQueue queue, GrantState state, TokenBlock tokens) {
        this.queue = queue;
        this.context = queue.context();
        this.state = state;
        this.tokens = tokens;
        this.shared = queue.name().mode().kind() == LockMode.SHARED;
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
        boolean asMany = shared || state.grant().mode().equals(waiter.mode);
        return asMany
                && stopped.isEmpty()
                && state.isValid()
                && state.fits(waiter.options)
                && (tokens.isFresh() || (state.hasEnoughLease() && hasRoomFor(waiter.options)));
    }

    private boolean hasRoomFor(HoldOptions options) {
        return shared ? mayJoin(options) : isFree() && tokens.mayHandOver(options);
    }

    /**
     * Whether one more reader may come in beside the others, or after them. A hold without auto-renewal never shares
     * its grant: its holder may make the lease shorter.
     */
    private boolean mayJoin(HoldOptions options) {
        return (isFree() || options.autoRenew())
                && !options.strictFifo()
                && tokens.hasTokenLeft()
                && now() - openedAt <= Durations.nanos(options.maxHandOverTime());
    }

    /**
     * The store is asked whether a writer of another client waits when half of the bound has passed, so that the answer
     * is there before the whole bound has passed and no reader waits for it.
     */
    private Runnable askForWritersInTime(HoldOptions options) {
        if (!shared || asking || now() - openedAt <= Durations.nanos(options.maxHandOverTime()) / 2) {
            return NOTHING;
        }
        asking = true;
        return () -> context.renewer()
                .ask(
                        state,
                        alone -> queue.transition(() -> {
                            asking = false;
                            if (alone) {
                                openedAt = now();
                            }
                            return NOTHING;
                        }));
    }

    void staysWritersInStore() {
        writersInStore = true;
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
                && tokens.hasTokenLeft()
                && state.fitsOnceSettled(options);
    }

    /** Has the waiting readers join once no other client waits; asks again in a while until then. */
    Runnable serveIfAlone() {
        if (askingForWaiters) {
            return NOTHING;
        }
        askingForWaiters = true;
        return () -> context.renewer()
                .ask(
                        state,
                        alone -> queue.transition(() -> {
                            Waiter first = queue.waiters.first();
                            openedAt = alone ? now() : openedAt;
                            if (alone && queue.has(this) && first != null && mayServe(first)) {
                                askingForWaiters = false;
                                return serve();
                            }
                            return () -> context.time().schedule(() -> queue.transition(this::askAgain), ASK_AGAIN);
                        }));
    }

    private Runnable askAgain() {
        askingForWaiters = false;
        return queue.has(this) ? queue.nextIfIdle() : NOTHING;
    }

    /** Has one join who does not wait, if no other client waits. */
    Runnable tryIfAlone(Waiter trying) {
        queue.trying(1);
        return () -> context.renewer()
                .ask(
                        state,
                        alone -> queue.transition(() -> {
                            queue.trying(-1);
                            openedAt = alone ? now() : openedAt;
                            Optional<Runnable> joined = alone && queue.has(this) && queue.mayEnter(this, trying)
                                    ? enter(trying)
                                    : Optional.empty();
                            return joined.orElseGet(() -> queue.claimFor(trying));
                        }));
    }

    /** Admits one more caller that has just come; empty if its outcome was set before. */
    Optional<Runnable> join(Waiter waiter) {
        Runnable ask = askForWritersInTime(waiter.options);
        return enter(waiter).map(entered -> both(entered, ask));
    }

    /** Gives a hold by it to a waiter; empty if its outcome was set before. */
    Optional<Runnable> enter(Waiter taker) {
        HoldState before = tokens.lastHold();
        HoldState made = queue.newHold(state, tokens, taker);
        HoldHandle anchor = made.handOut(taker.threadOwned);
        Thread owner = made.isThreadBound() ? taker.thread : null;
        holds.add(made);
        if (shared) {
            tokens.lastBeside(made);
        } else {
            tokens.given(made);
        }
        if (owner != null) {
            queue.owners.add(owner, made);
        }
        // Last: from here on the taker may close the hold, and everything must be in its place by then.
        Optional<Runnable> taken = Optional.of(taker::wake);
        if (taker.resolve(new Waiter.Outcome.Granted(anchor))) {
            try {
                context.telemetry().acquired(made, taker);
            } catch (Throwable notCounted) {
                // an Error, such as of memory: the taker has the hold, and is woken
            }
            return taken;
        }
        if (owner != null) {
            queue.owners.remove(owner, made);
        }
        holds.remove(made);
        if (shared) {
            tokens.lastBeside(before);
        } else {
            tokens.notTaken(before);
        }
        return Optional.empty();
    }

    /** Adopts the hold of a writer that becomes a reader. */
    void adopt(HoldState reading) {
        holds.add(reading);
        if (reading.isThreadBound() && reading.acquirer != null) {
            queue.owners.add(reading.acquirer, reading);
        }
    }

    /** Admits the callers that waited for it: one for permits; of readers all but those behind a writer. */
    Runnable serve() {
        List<Runnable> wakes = new ArrayList<>();
        for (Waiter first = queue.waiters.first(); first != null && mayServe(first); first = queue.waiters.first()) {
            if (queue.waiters.remove(first)) {
                enter(first).ifPresent(wakes::add);
            }
        }
        Runnable back = isFree() ? release() : NOTHING;
        return both(both(all(wakes), back), both(queue.afterLeaving(), queue.nextIfIdle()));
    }

    private boolean mayServe(Waiter first) {
        return suits(first) && (isFree() || !queue.isBehindWriter(first));
    }

    /**
     * Closes a hold by it.
     *
     * @param givenBack is completed with whether the grant was released
     */
    Runnable close(HoldState closing, CompletableFuture<Boolean> givenBack) {
        Loss.Cause cause = state.lossCause();
        if (cause != null || !closing.close()) {
            givenBack.complete(false);
            return cause != null ? lost(cause) : NOTHING;
        }
        leave(closing);
        context.telemetry().released(closing);
        Runnable then = isFree() ? freed(closing.options.awaitRelease()) : NOTHING;
        givenBack.complete(state.isGivenBack());
        return both(() -> context.telemetry().recordReleased(closing), then);
    }

    private void leave(HoldState closed) {
        holds.remove(closed);
        stopped.remove(closed);
        if (shared) {
            tokens.lastBeside(closed);
        }
        stopIfNoOtherHolds();
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
            state.renewal().stop(why);
        }
    }

    // ---- release ----

    /** The last hold by it was closed. */
    private Runnable freed(boolean goesBackNow) {
        Waiter first = queue.waiters.first();
        if (first != null && !shared && queue.mayEnter(this, first)) {
            return serve();
        }
        if (goesBackNow || first != null || !state.isValid()) {
            return release();
        }
        boolean planned = releasePlanned;
        releasePlanned = true;
        return planned
                ? NOTHING
                : () -> context.beforeSending(queue.name(), () -> queue.transition(this::releaseIfUnused));
    }

    /** The store is about to send, and no caller took it over. */
    private Runnable releaseIfUnused() {
        releasePlanned = false;
        return queue.has(this) && isFree() ? release() : NOTHING;
    }

    private Runnable release() {
        return both(giveBack(), queue.nextIfIdle());
    }

    Runnable giveBack() {
        if (!state.giveBack()) {
            return NOTHING; // lost at this moment: grantLost follows and goes on from there
        }
        queue.dropGrant(this);
        context.renewer().forget(state);
        HoldState last = tokens.lastHold();
        Runnable claimsMayFollow = queue.releases.begin();
        return () -> context.releaseSender().releaseBeforeClaims(state, last).whenComplete((held, failed) -> {
            claimsMayFollow.run();
            queue.transition(queue::nextIfIdle);
        });
    }

    /** It has ended otherwise than by its release. */
    Runnable lost(Loss.Cause cause) {
        queue.dropGrant(this);
        Runnable report =
                all(holds().stream().map(loser -> queue.tellLoss(loser, cause)).toList());
        Runnable clear = state.renewal().mayStillStand(cause)
                ? () -> context.releaseSender().release(state, null)
                : NOTHING;
        return both(both(report, clear), queue.nextIfIdle());
    }

    private long now() {
        return context.time().nanoTime();
    }
}
