package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A grant whose lease changes: what counts from when on, and for whom. All were found by the simulation. */
@Timeout(120)
class LeaseChangeTest {
    private static final HoldOptions FIXED = HoldOptions.defaults().autoRenew(false);

    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);
    private final HostileStore line = new HostileStore(memory.open(time));

    @AutoClose
    private final LockClient rival = open(memory.open(time));

    private LockClient open(Store store) {
        return LockClient.builder(store).time(time).executor(Runnable::run).build();
    }

    @Test
    void aShorterLeaseCountsFromTheSendingOfTheRequest() throws InterruptedException {
        LockClient client = open(line);
        Hold hold = client.lock("a", FIXED).acquire();
        line.renews = new HostileStore.ReplyLost();
        assertThatThrownBy(() -> hold.extend(Duration.ofSeconds(1))).isInstanceOf(StoreUnavailableException.class);
        assertThat(hold.remaining()).isLessThan(Duration.ofSeconds(1));
        time.advance(Duration.ofSeconds(1));
        assertThat(hold.isValid()).isFalse();
        assertThat(rival.lock("a").tryAcquire()).as("the store did shorten it").isPresent();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noLeaseCountsForLongerThanOneThatGotNoAnswer(boolean ordered) throws InterruptedException {
        line.caps = capabilities -> HostileStore.with(capabilities, false, ordered, true);
        LockClient client = open(line);
        Hold hold = client.lock("a", FIXED).acquire();
        Late late = new Late();
        line.renews = late;
        assertThatThrownBy(() -> hold.extend(Duration.ofSeconds(2))).isInstanceOf(StoreUnavailableException.class);
        line.renews = HostileStore.PASS;
        hold.extend(Duration.ofSeconds(60));
        late.arrive.run();
        time.advance(Duration.ofSeconds(3));
        Optional<Hold> next = rival.lock("a").tryAcquire();
        assertThat(next).as("the late request left two seconds").isPresent();
        assertThat(hold.isValid()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aGrantWhoseLeaseIsBeingChangedIsNotHandedOver(boolean sessionBound) throws InterruptedException {
        line.caps = capabilities -> HostileStore.with(capabilities, sessionBound, true, true);
        LockClient client = open(line);
        HoldOptions options = FIXED.handOver(64, Duration.ofMinutes(1));
        Hold first = client.lock("a", options).acquire();
        CompletableFuture<Hold> next = client.lock("a", options).acquireAsync();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        CompletableFuture<Void> extending =
                CompletableFuture.runAsync(() -> first.extend(Duration.ofSeconds(sessionBound ? 12 : 60)));
        await().until(() -> slow.held.get() > 0);
        first.close();
        slow.open.complete(null);
        await().until(extending::isDone);
        await().until(next::isDone);
        assertThat(next.join().remaining())
                .as("the next one has the lease it asked for")
                .isBetween(Duration.ofSeconds(29), Duration.ofSeconds(30));
    }

    @Test
    void aHoldThatWasHandedOverWithAShorterLeaseIsRenewedInTime() throws InterruptedException {
        LockClient client = open(line);
        HoldOptions options = HoldOptions.defaults().handOver(64, Duration.ofMinutes(1));
        Hold first = client.lock("a", options.lease(Duration.ofMinutes(10))).acquire();
        CompletableFuture<Hold> next =
                client.lock("a", options.lease(Duration.ofSeconds(3))).acquireAsync();
        first.close();
        Hold second = next.join();
        time.advance(Duration.ofSeconds(30));
        assertThat(second.isValid()).isTrue();
        second.close();
    }

    @Test
    void theBoundsOfHandOverAreThoseOfTheOneWhoGetsIt() throws InterruptedException {
        LockClient client = open(line);
        HoldOptions loose = HoldOptions.defaults().handOver(64, Duration.ofMinutes(1));
        Hold first = client.lock("a", loose).acquire();
        CompletableFuture<Hold> other =
                client.lock("a", loose.lease(Duration.ofSeconds(90))).acquireAsync();
        CompletableFuture<Hold> strict =
                client.lock("a", loose.strictFifo(true)).acquireAsync();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        first.close(); // renewed for the other one, who gives up meanwhile
        other.cancel(false);
        line.renews = HostileStore.PASS;
        slow.open.complete(null);
        assertThat(strict.join().token() % 1024)
                .as("through the store: the first hold of its number")
                .isZero();
    }

    @Test
    void aClaimThatIsRepeatedLateEndsNoLeaseEarlierAndKeepsItsNumber() {
        Store store = memory.open(time);
        Claim claim = claim(Duration.ofSeconds(5));
        Grant grant = granted(store, claim);
        store.renew(List.of(grant.withLease(Duration.ofSeconds(60))));
        assertThat(granted(store, claim).number()).isEqualTo(grant.number());
        time.advance(Duration.ofSeconds(10));
        assertThat(rival.lock("a").tryAcquire()).isEmpty();
    }

    @Test
    void aClaimThatLostItsGrantAndCameBackIsAnotherGrant() {
        Store store = memory.open(time);
        Claim claim = claim(Duration.ofSeconds(5));
        Grant lost = granted(store, claim);
        time.advance(Duration.ofSeconds(6));
        rival.lock("a").tryAcquire().orElseThrow().close();
        Grant back = granted(store, claim);
        assertThat(back.number()).isGreaterThan(lost.number());
        assertThat(verdict(store, lost)).isEqualTo(Renewal.Verdict.LOST);
        assertThat(verdict(store, back)).isEqualTo(Renewal.Verdict.HELD);
    }

    private static Claim claim(Duration lease) {
        Holder nobody = new Holder("host", 1, "thread", "");
        return new Claim(ClaimId.random(), "a", Mode.EXCLUSIVE, lease, false, 0, nobody);
    }

    private static Grant granted(Store store, Claim claim) {
        return Asked.of(store, claim).answer().join().orElseThrow();
    }

    private static Renewal.Verdict verdict(Store store, Grant grant) {
        return store.renew(List.of(grant))
                .toCompletableFuture()
                .join()
                .get(grant.id())
                .verdict();
    }

    /** Fails a request at once, and carries it out when told. */
    private static final class Late implements HostileStore.Gate {
        Runnable arrive = () -> {};

        @Override
        public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
            arrive = request::get;
            return CompletableFuture.failedFuture(new StoreUnavailableException("no answer in time"));
        }
    }
}
