package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A holder can hear that others wait for its lock. */
class OnWantedTest extends BadLineCase {
    private final AtomicInteger told = new AtomicInteger();

    private void isTold(int times) {
        EngineCase.soon(() -> told.get() == times);
    }

    /** Actions run one after another, so what was noted before has been told once this one was. */
    private void everythingIsTold() throws Exception {
        CompletableFuture<Void> last = new CompletableFuture<>();
        Hold other = client.lock("other").acquire();
        rival.lock("other").acquireAsync().thenAccept(Hold::close);
        other.onWanted(() -> last.complete(null));
        last.get();
        other.close();
    }

    @Test
    void theHolderHearsOfAnotherClientOnce() throws Exception {
        Hold hold = client.lock("a").acquire();
        hold.onWanted(told::incrementAndGet);
        everythingIsTold();
        assertThat(told).hasValue(0);

        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();
        isTold(1);
        rival.readWriteLock("a").read().acquireAsync().thenAccept(Hold::close);
        time.advance(Duration.ofSeconds(25));
        everythingIsTold();

        assertThat(told).hasValue(1);
        hold.close();
        theirs.join().close();
    }

    @Test
    void aRivalThatCameBeforeIsHeardOfAsWell() throws Exception {
        Hold hold = client.lock("a").acquire();
        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();

        hold.onWanted(told::incrementAndGet);

        isTold(1);
        hold.onWanted(told::incrementAndGet);
        isTold(2);
        hold.close();
        theirs.join().close();
    }

    @Test
    void callersOfTheSameClientCountToo() throws Exception {
        Hold hold = client.lock("a").acquire();
        hold.onWanted(told::incrementAndGet);
        CompletableFuture<Hold> mine = client.lock("a").acquireAsync();
        isTold(1);

        hold.onWanted(told::incrementAndGet);

        isTold(2);
        hold.close();
        mine.join().close();
    }

    @Test
    void aTryIsNoWait() throws Exception {
        Hold hold = client.lock("a").acquire();
        hold.onWanted(told::incrementAndGet);

        assertThat(rival.lock("a").tryAcquire()).isEmpty();

        everythingIsTold();
        assertThat(told).hasValue(0);
        hold.close();
    }

    @Test
    void aHoldThatIsClosedHearsNothing() throws Exception {
        Hold hold = client.lock("a").acquire();
        hold.onWanted(told::incrementAndGet);
        hold.close();
        Hold next = client.lock("a").acquire();

        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();

        everythingIsTold();
        assertThat(told).hasValue(0);
        assertThatIllegalStateException().isThrownBy(() -> hold.onWanted(told::incrementAndGet));
        next.close();
        theirs.join().close();
    }

    @Test
    void ifTheMessageOrTheRequestIsLostTheNextRenewalSaysIt() throws Exception {
        line.watches = UnreliableStore.Line.REQUEST_LOST;
        Hold hold = client.lock("a").acquire();
        hold.onWanted(told::incrementAndGet);
        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();
        assertThat(told).hasValue(0);

        time.advance(HoldOptions.defaults().lease().dividedBy(3).plusSeconds(1));

        isTold(1);
        hold.close();
        theirs.join().close();
    }

    @Test
    void aRequestThatWasLostIsRepeatedForAHoldThatIsNotRenewed() throws Exception {
        line.watches = UnreliableStore.Line.REQUEST_LOST;
        Hold hold = client.lock("a", HoldOptions.defaults().autoRenew(false)).acquire();
        hold.onWanted(told::incrementAndGet);
        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();
        line.watches = UnreliableStore.Line.UP;

        time.advance(HoldOptions.defaults().lease().dividedBy(10));

        isTold(1);
        hold.close();
        theirs.join().close();
    }

    @Test
    void anActionThatThrowsHarmsNobody() throws Exception {
        Hold hold = client.lock("a").acquire();
        hold.onWanted(() -> {
            throw new IllegalStateException("planned");
        });
        hold.onWanted(told::incrementAndGet);

        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();

        isTold(1);
        hold.close();
        theirs.join().close();
    }

    @Test
    void readersAndPermitsAreRefused() throws Exception {
        try (Hold reader = client.readWriteLock("a").read().acquire();
                Hold permit = client.semaphore("b", 2).acquire()) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> reader.onWanted(told::incrementAndGet))
                    .withMessageContaining("'a'");
            assertThatIllegalStateException().isThrownBy(() -> permit.onWanted(told::incrementAndGet));
        }
    }

    @Test
    void aStoreThatDoesNotReportItIsRefused() throws Exception {
        HostileStore plain = new HostileStore(memory.open(time));
        plain.caps = capabilities -> capabilities.wanted(false);
        try (LockClient other = LockClient.builder(plain).time(time).build();
                Hold hold = other.lock("a").acquire()) {
            assertThatThrownBy(() -> hold.onWanted(told::incrementAndGet))
                    .isInstanceOf(UnsupportedByStoreException.class);
        }
    }
}
