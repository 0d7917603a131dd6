package dev.holdfast.sim;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.internal.EngineDoor;
import dev.holdfast.internal.HoldHandle;
import dev.holdfast.internal.LockName;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A caller whose thread owns what it holds: it enters that again, to read what it writes as well, and has to leave it as
 * often, in any order. Half of them are as {@code asLock()} has them. The simulation is one thread, so each client has one
 * such caller at most.
 */
final class Owner {
    private final Caller caller;
    private final Client client;
    private final World world;
    private final Dice dice;
    private final List<LockMode> entries = new ArrayList<>();
    private @Nullable Held held;
    private boolean threadOwned;
    private @Nullable Lock lock;
    private @Nullable Lock readLock;

    Owner(Caller caller) {
        this.caller = caller;
        this.client = caller.client;
        this.world = client.world;
        this.dice = world.dice;
    }

    // ---- in ----

    void acquire(String wanted) {
        if (!world.mayBlock()) {
            caller.pause();
            return;
        }
        HoldOptions options = caller.setting.options(dice).reentrant(true);
        Mode mode = caller.setting.mode(dice);
        threadOwned = dice.percent(50);
        Duration wait = wait(30, 150);
        Wish wish = world.judge.asks(client, caller.name, wanted, mode, !wait.isZero());
        wish.threaded = true;
        wish.timeUp = client.time.nanoTime() + wait.toNanos();
        client.note(() -> caller.name + " wants to own " + wanted + " " + mode + " within " + wait.toMillis() + " ms: "
                + Caller.shown(options));
        if (!wait.isZero()) {
            client.after(wait.toNanos(), () -> wish.heldWhenTimeWasUp = world.judge.busy.isHeldBy(client, wanted));
        }
        try {
            answered(wish, options, enter(wanted, mode, options, wait));
        } catch (InterruptedException given) {
            world.counts.add(Happening.WAIT_INTERRUPTED);
            world.judge.answered(wish, null);
            caller.pause();
        } catch (RuntimeException failed) {
            caller.ended(wish, failed);
        }
    }

    private void answered(Wish wish, HoldOptions options, Optional<HoldHandle> got) {
        if (got.isPresent()) {
            world.judge.answered(wish, null);
            Held held = caller.granted(wish, wish.name, options, got.get());
            lock = client.engine.javaLock(name(wish.name, Mode.EXCLUSIVE), options);
            readLock = client.engine.javaLock(name(wish.name, Mode.SHARED), options);
            entries.clear();
            entries.add(held.mode.kind());
            hold(held);
            return;
        }
        if (wish.waits) {
            world.judge.timedOut(wish);
        } else {
            world.judge.refused(wish);
        }
        client.note(() -> caller.name + " does not get to own " + wish.name);
        caller.pause();
    }

    private Duration wait(int chanceOfNone, int most) {
        return dice.percent(chanceOfNone)
                ? Duration.ZERO
                : Duration.ofNanos(dice.part(caller.setting.lease(), 1, most));
    }

    private Optional<HoldHandle> enter(String wanted, Mode mode, HoldOptions options, Duration wait)
            throws InterruptedException {
        try {
            return EngineDoor.enter(client.engine, name(wanted, mode), options, threadOwned, wait);
        } finally {
            Thread.interrupted(); // the one thread is everybody's
        }
    }

    private LockName name(String wanted, Mode mode) {
        return client.engine.name(wanted, mode);
    }

    // ---- in again ----

    private void hold(Held got) {
        held = got;
        long span = dice.percent(40) ? dice.micros(0, 6_000) : dice.part(caller.setting.lease(), 5, 200);
        for (int i = dice.below(4); i > 0; i--) {
            client.after(span / (i + 1), () -> enterAgain(got));
        }
        if (got.mode == Mode.SHARED && dice.percent(30)) {
            client.after(span / 3, () -> wantsToWrite(got));
        }
        client.after(span, () -> leave(got));
    }

    /** Its connection broke, and what it holds is in doubt: now to enter it is refused, or waits for news. */
    void inDoubt() {
        if (held != null) {
            enterAgain(held);
        }
    }

    private void enterAgain(Held held) {
        if (held.closed || !world.mayBlock()) {
            return;
        }
        boolean toRead = caller.setting.use() == Setting.Use.READ_WRITE && dice.percent(40);
        Mode mode = toRead ? Mode.SHARED : held.mode;
        Duration wait = wait(50, 60);
        boolean sure = held.sight.isValid();
        try {
            Optional<HoldHandle> again = enter(held.name, mode, held.options, wait);
            if (again.isPresent()) {
                entries.add(mode.kind());
                world.counts.add(Happening.RE_ENTERED);
                client.note(() -> caller.name + " is in " + held + " " + entries.size() + " times");
                check(held, again.get() == held.anchor && held.sight.isValid(), "entered though it is not surely held");
            } else {
                world.counts.add(Happening.RE_ENTRY_REFUSED);
                check(held, !sure, "not entered though it is surely held");
            }
        } catch (HoldLostException lost) {
            world.counts.add(Happening.RE_ENTRY_OF_LOST);
            check(held, held.sight.isLost(), "called lost at re-entry, and is not");
        } catch (InterruptedException | StoreUnavailableException | ClientClosedException unknown) {
            client.note(() -> caller.name + " could not enter again: " + unknown.getMessage());
        }
    }

    /** A reader would wait for itself. */
    private void wantsToWrite(Held held) {
        if (held.closed || !held.sight.isWithinLease() || client.isClosing()) {
            return;
        }
        try {
            boolean got = enter(held.name, Mode.EXCLUSIVE, held.options, Duration.ZERO)
                    .isPresent();
            world.counts.add(Happening.UPGRADE_REFUSED);
            check(held, !got, "entered to write by its reader");
        } catch (InterruptedException unasked) {
            throw new IllegalStateException(unasked);
        }
    }

    private void check(Held held, boolean good, String what) {
        if (!good) {
            world.judge.broken(Rule.RE_ENTRY, held + " was " + what);
        }
    }

    // ---- out ----

    private void leave(Held held) {
        if (!caller.mayClose(held)) {
            client.after(dice.millis(1, 10), () -> leave(held));
            return;
        }
        if (entries.size() == 1) {
            leaveForGood(held);
            return;
        }
        LockMode as = entries.remove(dice.percent(70) ? entries.size() - 1 : 0);
        client.note(() -> caller.name + " leaves " + held + " but for " + entries);
        RuntimeException thrown = exit(held, as);
        check(held, thrown == null ? !held.sight.isLost() : held.sight.isLost(), "left, and nothing true was said");
        if (held.mode == Mode.EXCLUSIVE && held.sight.isReading()) {
            world.counts.add(Happening.LEFT_TO_READ);
            world.judge.downgraded(held);
        }
        client.after(dice.percent(50) ? 0 : dice.part(caller.setting.lease(), 1, 50), () -> leave(held));
    }

    private void leaveForGood(Held held) {
        if (!threadOwned && dice.percent(10)) {
            entries.clear();
            caller.drop(held);
            return;
        }
        LockMode as = entries.remove(0);
        boolean good = held.sight.isWithinLease();
        client.note(() -> caller.name + " leaves " + held);
        world.judge.closes(held);
        world.judge.closed(held, good, exit(held, as));
        caller.pause();
    }

    /** Leaves one entry; what the thread was told, if anything. */
    private @Nullable RuntimeException exit(Held held, LockMode as) {
        try {
            if (threadOwned) {
                Objects.requireNonNull(as == LockMode.SHARED ? readLock : lock).unlock();
            } else {
                held.anchor.checkOwner();
                held.anchor.close(as);
            }
            return null;
        } catch (IllegalMonitorStateException thrown) {
            if (thrown.getCause() instanceof HoldLostException lost) {
                return lost;
            }
            // A client that was closed has forgotten its owners.
            return client.isClosing() && held.sight.isLost() ? new HoldLostException(held.sight.loss()) : thrown;
        } catch (RuntimeException thrown) {
            return thrown;
        }
    }
}
