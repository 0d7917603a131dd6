package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Between a close and the moment at which the store sends, a grant is still there for who comes back. */
class LingerTest extends BadLineCase {
    private static final HoldOptions NO_HAND_OVER = HoldOptions.defaults().handOver(0, Duration.ZERO);
    private static final Duration LEASE = HoldOptions.defaults().lease();

    {
        line.gathers = true;
    }

    @Test
    void whoComesBackInTheSameInstantKeepsTheGrant() throws Exception {
        Hold first = client.lock("a").acquire();
        first.close();
        Hold second = client.lock("a").acquire();

        assertThat(second.token()).isEqualTo(first.token() + 1);
        assertThat(line.claimRequests).hasValue(1);
        line.send();
        assertThat(line.releaseRequests).as("releases while it is held again").hasValue(0);
        assertThat(second.isValid()).isTrue();
        assertThat(rival.lock("a").tryAcquire()).isEmpty();
        second.close();
    }

    @Test
    void whoTriesOnceInTheSameInstantKeepsItToo() throws Exception {
        client.lock("a").acquire().close();

        assertThat(client.lock("a").tryAcquire()).isPresent();
        assertThat(line.claimRequests).hasValue(1);
    }

    @Test
    void whereNobodyComesBackItIsFreeOnceTheStoreSends() throws Exception {
        client.lock("a").acquire().close();
        assertThat(rival.lock("a").tryAcquire()).isEmpty();

        line.send();

        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aGrantUsedToTheBoundGoesBackWithTheNextClaimBehindIt() throws Exception {
        Hold first = client.lock("a", NO_HAND_OVER).acquire();
        CompletableFuture<Hold> others = rival.lock("a").acquireAsync();
        first.close();
        CompletableFuture<Hold> again = client.lock("a", NO_HAND_OVER).acquireAsync();
        assertThat(line.releaseRequests).hasValue(0);

        line.send();

        assertThat(line.releaseRequests).hasValue(1);
        assertThat(line.claimRequests).hasValue(2);
        Hold between = others.getNow(null);
        assertThat(between).as("the hold of the client that waited").isNotNull();
        between.close();
        assertThat(again.getNow(null).token()).isGreaterThan(between.token());
    }

    @Test
    void whoTriesOnceForAGrantUsedToTheBoundIsAnsweredBehindItsRelease() throws Exception {
        client.lock("a", NO_HAND_OVER).acquire().close();
        EngineCase.Started<Optional<Hold>> tries = EngineCase.startAndWaitUntilItWaits(
                () -> client.lock("a", NO_HAND_OVER).tryAcquire());
        CompletableFuture<Hold> later = client.lock("a", NO_HAND_OVER).acquireAsync();

        line.send();

        Optional<Hold> tried = tries.result();
        assertThat(tried).isPresent();
        assertThat(later).isNotDone();
        tried.orElseThrow().close();
        line.send();
        assertThat(later).isDone();
    }

    @Test
    void oneWhoTriesOnceIsNotPassedByWhoComesAfterIt() throws Exception {
        client.lock("a").acquire().close();
        EngineCase.Started<Optional<Hold>> tries = EngineCase.startAndWaitUntilItWaits(
                () -> client.lock("a", NO_HAND_OVER).tryAcquire());

        CompletableFuture<Hold> later = client.lock("a").acquireAsync();

        assertThat(later).isNotDone();
        line.send();
        tries.result().orElseThrow().close();
        assertThat(later).isDone();
    }

    @Test
    void aWriterWhoTriesComesBehindTheReleaseOfAReaderOfItsClient() throws Exception {
        DistributedReadWriteLock lock = client.readWriteLock("a");
        lock.read().acquire().close();

        assertThat(lock.write().tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void aReaderWhoTriesComesBehindTheReleaseOfAWriterOfItsClient() throws Exception {
        DistributedReadWriteLock lock = client.readWriteLock("a");
        lock.write().acquire().close();

        assertThat(lock.read().tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void aWriterWhoWaitsFindsNoReaderOfItsClientInItsWay() throws Exception {
        DistributedReadWriteLock lock = client.readWriteLock("a");
        lock.read().acquire().close();

        assertThat(lock.write().acquireAsync()).isCompletedWithValueMatching(Hold::isValid);
    }

    @Test
    void aCloseThatAwaitsItsReleaseDoesNotLinger() throws Exception {
        client.lock("a", HoldOptions.defaults().awaitRelease(true)).acquire().close();

        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aCloseThatAwaitsItsReleaseAwaitsItBehindTheOthersToo() throws Exception {
        UnreliableStore store = new UnreliableStore(memory.open(time), false);
        store.gathers = true;
        HoldOptions awaiting = NO_HAND_OVER.awaitRelease(true);
        try (LockClient other =
                LockClient.builder(store).time(time).executor(Runnable::run).build()) {
            Hold first = other.lock("b", awaiting).acquire();
            CompletableFuture<Hold> next = other.lock("b", NO_HAND_OVER).acquireAsync();
            EngineCase.Started<Object> closing = EngineCase.start(() -> {
                first.close();
                return "closed";
            });
            EngineCase.soon(closing::isWaiting);
            assertThat(store.releaseRequests).hasValue(0);

            store.send();

            assertThat(closing.result()).isEqualTo("closed");
            assertThat(store.releaseRequests).hasValue(1);
            Hold after = next.getNow(null);
            assertThat(after.token()).isGreaterThan(first.token());
            after.close();
            store.gathers = false;
            store.send();
        }
    }

    @Test
    void aGrantThatRanOutWhileItLingeredIsNotGivenOutAgain() throws Exception {
        Hold first = client.lock("a", HoldOptions.defaults().autoRenew(false)).acquire();
        first.close();
        time.advance(LEASE);
        Optional<Hold> others = rival.lock("a").tryAcquire();
        CompletableFuture<Hold> again = client.lock("a").acquireAsync();

        line.send();

        assertThat(others).isPresent();
        assertThat(again).isNotDone();
        others.orElseThrow().close();
        assertThat(again).isDone();
    }

    @Test
    void aClientThatIsClosedLeavesNothingLingering() throws Exception {
        client.lock("a").acquire().close();

        client.close();

        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }
}
