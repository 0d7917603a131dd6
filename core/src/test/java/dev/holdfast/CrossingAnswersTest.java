package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Requests, answers and doubts cross on their way: no two holds are ever valid at once, and no token falls. */
class CrossingAnswersTest extends EngineCase {

    @Test
    void aRenewalSentDuringAHandOverLeavesNoTwoValidHolds() throws Exception {
        Hold first = client.lock("a", lease(5)).acquire();
        CompletableFuture<Hold> next = client.lock("a", lease(90)).acquireAsync();
        time.advance(s(1.5));
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        first.close(); // renews for 90 s; the answer is on its way
        time.advance(s(0.3)); // the renewer renews for 5 s
        line.renews = HostileStore.PASS;
        slow.open.complete(null);
        Hold second = next.getNow(null);
        assertThat(second.isValid()).isTrue();
        time.advance(s(6));
        assertNotBothValid(second);
    }

    @Test
    void aRenewalThatAStoreWithoutOrderHandlesAfterAHandOverLeavesNoTwoValidHolds() throws Exception {
        line.caps = c -> HostileStore.with(c, false, false, true);
        LockClient unordered = clientOn(line, time);
        Hold first = unordered.lock("a", lease(6)).acquire();
        CompletableFuture<Hold> next =
                unordered.lock("a", lease(90).autoRenew(false)).acquireAsync();
        HostileStore.HoldRequest late = new HostileStore.HoldRequest();
        line.renews = late;
        time.advance(s(2.1));
        assertThat(late.held.get()).isPositive();
        line.renews = HostileStore.PASS;
        first.close();
        late.open.complete(null);
        Hold second = next.getNow(null);
        time.advance(s(10));
        assertNotBothValid(second);
    }

    @Test
    void aDoubtDuringAnExtensionLeavesNoTwoValidHolds() throws Exception {
        Hold hold = client.lock("a", HoldOptions.defaults().autoRenew(false)).acquire();
        time.advance(s(20));
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        CompletableFuture<Void> extending = CompletableFuture.runAsync(() -> hold.extend(s(300)));
        soon(() -> slow.held.get() > 0);
        line.listener.suspect(grantOf(hold.id()));
        time.advance(s(0.01)); // the renewer asks again, for the 10 s that it knows of
        slow.open.complete(null);
        extending.join();
        time.advance(s(11));
        assertNotBothValid(hold);
    }

    @Test
    void anExtensionBetweenAnAnswerAndItsEffectLeavesNoTwoValidHolds() throws Exception {
        HookedTime hooked = new HookedTime(time);
        LockClient hookedClient = clientOn(memory.open(time), hooked);
        Hold hold =
                hookedClient.lock("a", HoldOptions.defaults().autoRenew(false)).acquire();
        Thread shorter = new Thread(() -> hold.extend(s(1)));
        hooked.once("changeLease", () -> {
            shorter.start();
            soon(() -> shorter.getState() == Thread.State.TIMED_WAITING || !shorter.isAlive());
        });
        hold.extend(s(60));
        assertThat(hooked.happened).isTrue();
        shorter.join();
        time.advance(s(1.5));
        assertNotBothValid(hold);
    }

    @Test
    void aLateAnswerToAnExtensionDoesNotBringAnEarlierTokenBack() throws Exception {
        HoldOptions fixed = HoldOptions.defaults().autoRenew(false).handOver(0, Duration.ofMinutes(1));
        Hold first = client.lock("a", fixed).acquire();
        CompletableFuture<Hold> next = client.lock("a", fixed).acquireAsync();
        CompletableFuture<Hold> last =
                client.lock("a", fixed.handOver(64, Duration.ofMinutes(1))).acquireAsync();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        CompletableFuture<Void> extending = CompletableFuture.runAsync(() -> first.extend(s(30)));
        soon(() -> slow.held.get() > 0);
        line.renews = HostileStore.PASS;
        first.close(); // a fresh number for the next
        Hold second = next.getNow(null);
        slow.open.complete(null);
        soon(extending::isDone);
        second.close();
        Hold third = last.getNow(null);
        assertThat(third.token()).as("after " + second.token()).isGreaterThan(second.token());
    }

    @Test
    void aGrantIsNotBelievedWhenTheMachineSleptWhileItsClaimWasUnderWay() throws Exception {
        ManualTime servers = new ManualTime();
        MemoryStore server = new MemoryStore(servers);
        HostileStore wire = new HostileStore(server.open(time));
        LockClient sleeper = clientOn(wire, time);
        LockClient awake = clientOn(server.open(servers), servers);
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        wire.claims = slow;
        CompletableFuture<Hold> claim = sleeper.lock("a").acquireAsync();
        time.sleepMachine(s(60)); // nanoTime stands still, the world does not
        servers.advance(s(60));
        Hold theirs = awake.lock("a").tryAcquire().orElseThrow();
        slow.open.complete(null);
        Hold ours = claim.getNow(null);
        assertThat(theirs.isValid()).isTrue();
        assertThat(ours != null && ours.isValid()).as("two valid holds").isFalse();
    }

    @Test
    void aTryThatIsGrantedWhileTheMachineFallsAsleepIsAnswered() throws Exception {
        assertAnsweredAfterSleep(one -> one.lock("a").tryAcquire());
        assertAnsweredAfterSleep(one -> one.readWriteLock("b").read().tryAcquire());
        assertAnsweredAfterSleep(one -> one.semaphore("c", 1).tryAcquire());
    }

    private void assertAnsweredAfterSleep(Function<LockClient, Optional<Hold>> trying) throws Exception {
        HookedTime hooked = new HookedTime(time);
        LockClient sleeper = clientOn(memory.open(time), hooked);
        hooked.once("planRenewal", () -> time.sleepMachine(s(60)));
        Hold hold = start(() -> trying.apply(sleeper)).result().orElseThrow();
        assertThat(hooked.happened).isTrue();
        assertThat(hold.isValid()).as("not before the store has confirmed it").isFalse();
        time.advance(s(0.01));
        assertThat(hold.isValid()).isTrue();
        sleeper.close();
    }

    @Test
    void anAnswerToARenewalSentBeforeADoubtDoesNotEndTheDoubt() throws Exception {
        Hold hold = client.lock("a").acquire();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        time.advance(s(10.1)); // handled by the store, the answer is on its way
        line.renews = HostileStore.PASS;
        Breaking.shown(rival, "a", true); // the server lost it: restart, failover
        line.listener.suspect(grantOf(hold.id()));
        assertThat(hold.isValid()).isFalse();
        Hold theirs = rival.lock("a").tryAcquire().orElseThrow();
        slow.open.complete(null);
        time.advance(s(0.01));
        assertThat(hold.isValid() && theirs.isValid())
                .as("two valid holds for " + hold.remaining())
                .isFalse();
    }

    @Test
    void anExtensionOnASessionIsBelievedForNoLongerThanTheSession() throws Exception {
        Duration session = s(10);
        line.caps = c -> HostileStore.with(c, true, true, true);
        line.grantMap = grant -> grant.withLease(session);
        Hold hold = clientOn(line, time)
                .lock("a", HoldOptions.defaults().autoRenew(false))
                .acquire();
        assertThat(hold.remaining()).isLessThanOrEqualTo(session);
        hold.extend(Duration.ofHours(1));
        assertThat(hold.remaining()).isLessThanOrEqualTo(session);
    }

    /** Lets the rival try: not both have the lock. */
    private void assertNotBothValid(Hold ours) {
        boolean theirs = rival.lock("a").tryAcquire().filter(Hold::isValid).isPresent();
        assertThat(theirs && ours.isValid())
                .as("two valid holds; ours for another " + ours.remaining())
                .isFalse();
    }
}
