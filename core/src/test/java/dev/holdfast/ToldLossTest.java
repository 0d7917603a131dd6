package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** A loss is told to the one whose hold it was, whatever else goes on; and what is no loss is told to nobody. */
class ToldLossTest extends EngineCase {

    @Test
    void theMaximumHoldOfOneHoldIsNotThatOfTheNext() throws Exception {
        HookedTime hooked = new HookedTime(time);
        LockClient hookedClient = clientOn(memory.open(time), hooked);
        Hold first = hookedClient.lock("a", lease(30).maxHold(s(10))).acquire();
        CompletableFuture<Hold> next = hookedClient.lock("a", lease(30)).acquireAsync();
        hooked.once(
                "lambda$stopIfHeldTooLong",
                () -> CompletableFuture.runAsync(first::close).join());
        time.advance(s(10.1)); // the renewer finds the first held too long while it is closed and handed over
        assertThat(hooked.happened).isTrue();
        Hold second = next.getNow(null);
        time.advance(s(60));
        assertThat(second.isValid()).as("it has no maximum hold time").isTrue();
    }

    @Test
    void aLossFoundAtAReleaseThatIsAnsweredWhileTheClientClosesIsTold() throws Exception {
        for (int i = 0; i < 20; i++) {
            HostileStore wire = new HostileStore(memory.open(time));
            LockClient closing = LockClient.builder(wire).time(time).build();
            List<Loss> told = new CopyOnWriteArrayList<>();
            Hold hold = closing.lock("b").acquire();
            hold.onLost(told::add);
            Breaking.shown(rival, "b", true);
            HostileStore.HoldReply slow = new HostileStore.HoldReply();
            wire.releases = slow;
            hold.close();
            Thread closer = new Thread(closing::close);
            closer.start();
            soon(() -> closer.getState() == Thread.State.TIMED_WAITING);
            slow.open.complete(null);
            closer.join();
            soon(() -> !told.isEmpty());
            assertThat(hold.isValid()).isFalse();
        }
    }

    @Test
    void aLossFoundAtTheReleaseIsToldThoughNobodyRefersToTheHoldAnyMore() throws Exception {
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        acquireAndClose(slow);
        for (int i = 0; i < 5; i++) {
            Garbage.collect();
        }
        slow.open.complete(null);
        soon(() -> losses.size() == 1);
    }

    private void acquireAndClose(HostileStore.HoldReply slow) throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        hold.onLost(losses::add);
        Breaking.shown(rival, "a", true);
        line.releases = slow;
        hold.close();
    }

    @Test
    void aCloseDuringTheCloseOfTheClientIsNoLoss() throws Exception {
        Hold hold = client.lock("a").acquire();
        CompletableFuture<Hold> waiting = client.lock("a").acquireAsync();
        HostileStore.HoldRequest late = new HostileStore.HoldRequest();
        waiting.whenComplete((got, failure) -> { // the client fails those who wait first
            line.releases = late;
            hold.close();
            line.releases = HostileStore.PASS;
        });
        Thread closer = Thread.currentThread();
        try (LogEar log = new LogEar()) {
            Started<Void> opener = start(() -> {
                soon(() -> late.held.get() > 0 && closer.getState() == Thread.State.TIMED_WAITING);
                late.open.complete(null);
                return null;
            });
            client.close();
            opener.result();
            assertThat(log.lines).as("closed in time, and given back once").isEmpty();
        }
    }
}
