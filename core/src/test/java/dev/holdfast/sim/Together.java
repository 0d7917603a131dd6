package dev.holdfast.sim;

import dev.holdfast.HoldOptions;
import dev.holdfast.internal.HoldHandle;
import dev.holdfast.internal.LockName;
import dev.holdfast.internal.MultiAcquisition;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A caller who wants several names together: with a future, or with a thread, which tries, waits for a time, or waits as
 * long as it takes. A thread that waits for what another gives back must not sleep on top of the other, so only one at a
 * time waits without end.
 */
final class Together {
    private final Caller caller;
    private final Client client;
    private final World world;
    private final Dice dice;

    Together(Caller caller) {
        this.caller = caller;
        this.client = caller.client;
        this.world = client.world;
        this.dice = world.dice;
    }

    void acquire() {
        HoldOptions options = caller.setting.options(dice);
        List<LockName> names = names();
        int how = dice.below(100);
        boolean threaded = how < 60 && world.mayBlock();
        Wish wish = world.judge.asks(client, caller.name, names.toString(), Mode.EXCLUSIVE, false);
        client.note(() -> caller.name + (threaded ? " wants " : " will want ") + names + ": " + Caller.shown(options));
        try {
            if (threaded) {
                withThread(wish, names, options, how);
            } else {
                withFuture(wish, names, options);
            }
        } catch (RuntimeException failed) {
            caller.ended(wish, failed);
        }
    }

    private List<LockName> names() {
        List<LockName> names = new ArrayList<>();
        for (int i = 0; i < caller.setting.names(); i++) {
            if (dice.percent(70)) {
                names.add(client.engine.name("lock" + i, Mode.EXCLUSIVE));
            }
        }
        if (names.isEmpty()) {
            names.add(client.engine.name("lock0", Mode.EXCLUSIVE));
        }
        return LockName.inOrder(names);
    }

    private void withFuture(Wish wish, List<LockName> names, HoldOptions options) {
        CompletableFuture<List<Held>> future = client.engine
                .acquisition(names, options)
                .acquireAsync(anchors -> granted(wish, names, options, anchors));
        future.whenComplete((all, failure) -> {
            if (all == null) {
                caller.ended(wish, failure);
            } else {
                world.judge.answered(wish, null);
                hold(all);
            }
        });
        caller.giveUpPerhaps(future);
    }

    private void withThread(Wish wish, List<LockName> names, HoldOptions options, int how) {
        MultiAcquisition acquisition = client.engine.acquisition(names, options);
        Optional<List<HoldHandle>> got;
        try {
            got = how < 20
                    ? acquisition.tryAcquire()
                    : acquisition.acquire(how < 40 || !world.isNobodyBlocked() ? aWhile() : null);
        } catch (InterruptedException given) {
            world.counts.add(Happening.WAIT_INTERRUPTED);
            got = Optional.empty();
        } finally {
            Thread.interrupted(); // the one thread is everybody's
        }
        world.judge.answered(wish, null);
        if (got.isPresent()) {
            hold(granted(wish, names, options, got.get()));
        } else {
            world.counts.add(Happening.SEVERAL_REFUSED);
            client.note(() -> caller.name + " does not get " + names);
            caller.pause();
        }
    }

    private @Nullable Duration aWhile() {
        return Duration.ofNanos(dice.part(caller.setting.lease(), 1, 150));
    }

    private List<Held> granted(Wish wish, List<LockName> names, HoldOptions options, List<HoldHandle> anchors) {
        world.counts.add(Happening.SEVERAL_HELD);
        List<Held> all = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            all.add(caller.granted(wish, names.get(i).name(), options, anchors.get(i)));
        }
        world.judge.together(all);
        return all;
    }

    private void hold(List<Held> all) {
        long span = dice.percent(50) ? dice.micros(0, 6_000) : dice.part(caller.setting.lease(), 5, 200);
        client.after(span, () -> closeThenPause(all));
    }

    private void closeThenPause(List<Held> all) {
        if (!caller.mayClose(all.get(0))) {
            client.after(dice.millis(1, 10), () -> closeThenPause(all));
            return;
        }
        for (int i = all.size() - 1; i >= 0; i--) {
            caller.close(all.get(i));
        }
        caller.pause();
    }
}
