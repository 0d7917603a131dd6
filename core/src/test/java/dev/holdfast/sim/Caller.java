package dev.holdfast.sim;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.internal.EngineDoor;
import dev.holdfast.internal.HoldHandle;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One who uses locks on a client: a few rounds of wanting one, holding it, and closing it, with everything else a caller
 * may do in between. It never reads a clock; what it does next falls to the dice.
 */
final class Caller {
    final Client client;
    final Setting setting;
    final String name;
    private final World world;
    private final Dice dice;
    private final Together together;
    private final @Nullable Owner owner;
    private final Onlooker onlooker;
    private int rounds;

    /**
     * @param owns whether its thread may own what it holds
     */
    Caller(Client client, String name, boolean owns) {
        this.client = client;
        this.world = client.world;
        this.dice = world.dice;
        this.setting = client.setting;
        this.name = name;
        this.rounds = setting.rounds();
        this.together = new Together(this);
        this.onlooker = new Onlooker(client, name);
        this.owner = owns ? new Owner(this) : null;
    }

    void begin() {
        client.after(dice.percent(50) ? dice.micros(0, 2_000) : dice.part(setting.lease(), 0, 100), this::nextRound);
    }

    void pause() {
        client.after(dice.percent(60) ? dice.micros(0, 500) : dice.part(setting.lease(), 0, 150), this::nextRound);
    }

    private void nextRound() {
        if (client.isClosing() || rounds-- == 0) {
            return;
        }
        String lock = "lock" + dice.below(setting.names());
        try {
            int what = dice.below(100);
            if (setting.use() == Setting.Use.SEVERAL && dice.percent(60)) {
                together.acquire();
            } else if (owner != null && dice.percent(40)) {
                owner.acquire(lock);
            } else if (what < 68) {
                acquire(lock);
            } else if (what < 80) {
                tryFor(lock);
            } else if (what < 90) {
                tryOnce(lock);
            } else if (world.mayBlock()) {
                onlooker.look(lock);
                pause();
            } else {
                pause();
            }
        } catch (ClientClosedException closed) {
            client.note(() -> name + " finds its client closed");
        }
    }

    // ---- getting one ----

    private void acquire(String lock) {
        HoldOptions options = setting.options(dice);
        Mode mode = setting.mode(dice);
        Wish wish = world.judge.asks(client, name, lock, mode, true);
        client.note(() -> name + " wants " + lock + " " + mode + ": " + shown(options));
        CompletableFuture<Held> future;
        try {
            future = client.engine
                    .acquisition(client.engine.name(lock, mode), options)
                    .acquireAsync(anchor -> granted(wish, lock, options, anchor), this::notWanted);
        } catch (ClientClosedException closed) {
            wish.answered();
            throw closed;
        }
        future.whenComplete((held, failure) -> {
            if (held == null) {
                ended(wish, failure);
            } else {
                world.judge.answered(wish, null);
                hold(held);
            }
        });
        giveUpPerhaps(future);
    }

    void giveUpPerhaps(CompletableFuture<?> future) {
        if (dice.percent(setting.impatient())) {
            long patience = dice.percent(30) ? dice.micros(0, 2_000) : dice.part(setting.lease(), 0, 150);
            client.after(patience, dice.percent(50) ? () -> cancel(future) : () -> timeOut(future));
        }
    }

    Held granted(Wish wish, String lock, HoldOptions options, HoldHandle anchor) {
        Held held = new Held(client, lock, wish.mode, options, anchor);
        onlooker.remember(held.token);
        if (wish.mode.kind() == LockMode.PERMITS) {
            world.counts.add(Happening.PERMITS);
        }
        anchor.onLost(loss -> world.judge.told(held, loss));
        client.note(() -> name + " gets " + held + (held.sight.isValid() ? "" : ", not valid"));
        world.judge.granted(wish, held);
        return held;
    }

    private void cancel(CompletableFuture<?> future) {
        if (future.cancel(false)) {
            world.counts.add(Happening.WAIT_CANCELLED);
            client.note(() -> name + " gives up waiting");
        }
    }

    private void timeOut(CompletableFuture<?> future) {
        if (future.completeExceptionally(new TimeoutException("patience"))) {
            world.counts.add(Happening.WAIT_TIMED_OUT);
            client.note(() -> name + " has waited long enough");
        }
    }

    /** A hold that came when its future was complete: it is closed for the caller, who never sees it. */
    private void notWanted(Held held) {
        if (mayClose(held)) {
            close(held);
        } else {
            client.after(dice.millis(1, 10), () -> notWanted(held));
        }
    }

    boolean mayClose(Held held) {
        return !held.options.awaitRelease() || world.mayBlock();
    }

    void ended(Wish wish, Throwable failure) {
        boolean own = failure instanceof CancellationException || failure instanceof TimeoutException;
        world.judge.answered(wish, own ? null : failure);
        if (!own) {
            world.counts.add(Happening.WAIT_FAILED);
            client.note(() -> name + " waited in vain: " + failure.getMessage());
        }
        pause();
    }

    private void tryOnce(String lock) {
        HoldOptions options = setting.options(dice);
        Mode mode = setting.mode(dice);
        Wish wish = world.judge.asks(client, name, lock, mode, false);
        client.note(() -> name + " tries " + lock + " " + mode + ": " + shown(options));
        answerOf(
                wish,
                options,
                EngineDoor.tryAcquire(client.engine, client.engine.name(lock, mode), options, client::later),
                () -> {
                    world.counts.add(Happening.TRY_REFUSED);
                    world.judge.refused(wish);
                });
    }

    private void tryFor(String lock) {
        HoldOptions options = setting.options(dice);
        Mode mode = setting.mode(dice);
        long wait = dice.percent(30) ? dice.micros(1, 2_000) : dice.part(setting.lease(), 1, 150);
        Wish wish = world.judge.asks(client, name, lock, mode, true);
        wish.timeUp = client.time.nanoTime() + wait;
        client.note(() -> name + " waits " + wait / 1_000 + " µs for " + lock + " " + mode + ": " + shown(options));
        client.after(wait, () -> wish.heldWhenTimeWasUp = world.judge.busy.isHeldBy(client, lock));
        answerOf(
                wish,
                options,
                EngineDoor.tryAcquire(
                        client.engine, client.engine.name(lock, mode), options, Duration.ofNanos(wait), client::later),
                () -> {
                    world.counts.add(Happening.TIMED_TRY_REFUSED);
                    world.judge.timedOut(wish);
                });
    }

    private void answerOf(
            Wish wish, HoldOptions options, CompletableFuture<Optional<HoldHandle>> future, Runnable refused) {
        future.whenComplete((anchor, failure) -> {
            if (failure != null) {
                ended(wish, failure);
            } else if (anchor.isEmpty()) {
                refused.run();
                client.note(() -> name + " does not get " + wish.name);
                pause();
            } else {
                world.judge.answered(wish, null);
                hold(granted(wish, wish.name, options, anchor.get()));
            }
        });
    }

    // ---- having one ----

    private void hold(Held held) {
        int how = dice.below(100);
        if (how < 40) {
            closeThenPause(held);
            return;
        }
        if (how > 97) {
            client.after(dice.part(setting.lease(), 0, 60), () -> drop(held));
            return;
        }
        long span = how < 65 ? dice.micros(0, 6_000) : dice.part(setting.lease(), 5, how < 90 ? 120 : 400);
        client.after(span, () -> closeThenPause(held));
        if (!held.options.autoRenew() && dice.percent(60)) {
            client.after(span / 2, () -> extend(held));
        }
        if (dice.percent(30)) {
            client.after(span / 3, () -> held.anchor.isValid());
        }
        if (setting.use() == Setting.Use.READ_WRITE && held.mode == Mode.EXCLUSIVE && dice.percent(60)) {
            client.after(span / 4, () -> downgrade(held));
        }
    }

    /** What its client holds may be gone. */
    void inDoubt() {
        if (owner != null) {
            owner.inDoubt();
        }
    }

    /** Nobody refers to a hold any more that nobody has closed. */
    void drop(Held held) {
        client.note(() -> name + " forgets " + held);
        world.judge.dropped(held);
        EngineDoor.drop(held.anchor);
        pause();
    }

    private void downgrade(Held held) {
        if (held.closed) {
            return;
        }
        try {
            held.anchor.downgrade();
            world.counts.add(Happening.DOWNGRADED);
            world.judge.downgraded(held);
            client.note(() -> name + " goes on reading with " + held);
        } catch (HoldLostException | IllegalStateException refused) {
            world.counts.add(Happening.DOWNGRADE_REFUSED);
            client.note(() -> name + " cannot go on reading: " + refused.getMessage());
        }
    }

    private void extend(Held held) {
        if (held.closed || held.sight.isBeingRenewed() || !world.mayBlock()) {
            return;
        }
        long lease = held.options.lease().toNanos() * dice.of(1, 1, 2) / dice.of(1, 1, 2);
        Duration asked = Duration.ofNanos(Math.max(100_000_000, lease));
        client.note(() -> name + " extends " + held + " to " + asked.toMillis() + " ms");
        try {
            held.anchor.extend(asked);
            world.counts.add(Happening.EXTENDED);
        } catch (HoldLostException | StoreUnavailableException | ClientClosedException refused) {
            world.counts.add(Happening.EXTEND_FAILED);
            client.note(() -> name + " could not: " + refused.getMessage());
        } catch (IllegalStateException closedMeanwhile) {
            if (!held.closed) {
                throw closedMeanwhile;
            }
        }
    }

    private void closeThenPause(Held held) {
        if (!mayClose(held)) {
            client.after(dice.millis(1, 10), () -> closeThenPause(held));
            return;
        }
        close(held);
        if (dice.percent(10)) {
            world.counts.add(Happening.CLOSED_TWICE);
            closeAgain(held);
        }
        pause();
    }

    void close(Held held) {
        boolean good = held.sight.isWithinLease();
        client.note(() -> name + " closes " + held);
        world.judge.closes(held);
        RuntimeException thrown = null;
        try {
            held.anchor.close(held.mode.kind());
        } catch (RuntimeException lost) {
            thrown = lost;
            client.note(() -> name + " is told by close: " + lost.getMessage());
        }
        world.judge.closed(held, good, thrown);
        if (held.options.awaitRelease()) {
            world.counts.add(Happening.AWAITED_RELEASE);
        }
    }

    /** The engine's own close, which must not mind; the public one stops at the first. */
    private static void closeAgain(Held held) {
        try {
            held.anchor.close(held.mode.kind());
        } catch (HoldLostException again) {
            // as before
        }
    }

    static @Nullable String shown(HoldOptions options) {
        return options.lease().toMillis() + " ms" + (options.autoRenew() ? ", renewed" : "")
                + options.maxHold()
                        .map(most -> ", at most " + most.toMillis() + " ms")
                        .orElse("")
                + ", handed over " + options.maxHandOvers() + " times or "
                + options.maxHandOverTime().toMillis() + " ms" + (options.strictFifo() ? ", strict" : "")
                + (options.retain().isZero() ? "" : ", retained");
    }
}
