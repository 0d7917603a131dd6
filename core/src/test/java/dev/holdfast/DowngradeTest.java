package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A writer who reads on, where the store does not answer, or cannot downgrade its grant. */
class DowngradeTest extends EngineCase {
    private final DistributedReadWriteLock lock =
            client.readWriteLock("a", lease(10).handOver(64, s(0.005)));
    private final DistributedReadWriteLock strict =
            client.readWriteLock("a", lease(10).strictFifo(true));
    private final DistributedReadWriteLock theirs = rival.readWriteLock("a", lease(10));

    @Test
    void aDowngradeThatDidNotArriveIsSentAgain() {
        line.downgrades = new HostileStore.RequestLost();
        Hold hold = downgraded();
        CompletableFuture<Hold> theirReader = theirs.read().acquireAsync();
        CompletableFuture<Hold> ourReader = lock.read().acquireAsync();
        advance(20, s(1)); // an outage longer than the lease, in which renewals get through
        assertThat(theirReader).isNotDone();
        line.downgrades = HostileStore.PASS;
        advance(4, s(1));
        assertThat(theirReader).as("a reader of another client").isDone();
        assertThat(ourReader).as("a reader of this client").isDone();
        assertThat(hold.isValid()).isTrue();
        hold.close();
        theirReader.join().close();
        ourReader.join().close();
    }

    @Test
    void aDowngradeWhoseAnswerWasLostIsSentAgainAndChangesNothing() {
        line.downgrades = new HostileStore.ReplyLost();
        Hold hold = downgraded();
        Hold beside = theirs.read().acquireAsync().join();
        HostileStore.HoldRequest again = new HostileStore.HoldRequest();
        line.downgrades = again;
        advance(4, s(1));
        assertThat(again.held).hasValue(1);
        assertThat(hold.isValid()).isTrue();
        assertThat(beside.isValid()).isTrue();
        hold.close();
        beside.close();
    }

    @Test
    void aDowngradeIsNotSentAgainOnceTheHoldIsClosed() {
        HostileStore.HoldRequest late = new HostileStore.HoldRequest();
        line.downgrades = new HostileStore.RequestLost();
        Hold hold = downgraded();
        line.downgrades = late;
        hold.close();
        advance(20, s(1));
        assertThat(late.held).hasValue(0);
    }

    @Test
    void aStoreThatOnlySaysAtTheSecondTimeThatItCannotDowngradeIsUnderstood() {
        line.loosens = false;
        line.downgrades = new HostileStore.RequestLost();
        Hold hold = downgraded();
        advance(1, s(1));
        line.downgrades = HostileStore.PASS;
        advance(4, s(1));
        CompletableFuture<Hold> beside = lock.read().acquireAsync();
        assertThat(beside).as("a reader of this client").isDone();
        beside.join().close();
        hold.close();
    }

    @Test
    void aReaderInStrictOrderHasItsPlaceInTheStoreWhileAHoldReadsOnThatCouldNotBeDowngraded() {
        line.loosens = false;
        Hold hold = downgraded();
        CompletableFuture<Hold> ours = strict.read().acquireAsync();
        CompletableFuture<Hold> writer = theirs.write().acquireAsync();
        assertThat(ours).isNotDone();
        hold.close();
        assertThat(ours).as("who came first").isDone();
        assertThat(writer).isNotDone();
        ours.join().close();
        writer.join().close();
    }

    @Test
    void readersInAnyOrderComeInBesideItOneAfterAnother() {
        line.loosens = false;
        Hold hold = downgraded();
        CompletableFuture<Hold> first = lock.read().acquireAsync();
        CompletableFuture<Hold> inOrder = strict.read().acquireAsync();
        CompletableFuture<Hold> behind = lock.read().acquireAsync();
        assertThat(first).isDone();
        first.join().close();
        hold.close();
        inOrder.join().close();
        behind.join().close();
        theirs.write().acquireAsync().join().close();
    }

    @Test
    void readersWhoTryAtOneMomentAllComeInBesideIt() {
        line.loosens = false;
        Hold hold = downgraded();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        List<CompletableFuture<Optional<Hold>>> tries = IntStream.range(0, 5)
                .mapToObj(i -> lock.read().tryAcquireAsync(s(0)))
                .toList();
        assertThat(tries).noneMatch(CompletableFuture::isDone);
        slow.open.complete(null);
        assertThat(tries).allSatisfy(tried -> assertThat(tried.join()).hasValueSatisfying(Hold::close));
        assertThat(slow.held.get()).as("requests to the store").isLessThanOrEqualTo(2);
        hold.close();
    }

    @Test
    void aReaderWhoTriesDuringARenewalComesInBesideIt() {
        line.loosens = false;
        Hold hold = downgraded();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        time.advance(s(4)); // the renewal that is due
        assertThat(slow.held).hasValue(1);
        CompletableFuture<Optional<Hold>> tried = lock.read().tryAcquireAsync(s(0));
        assertThat(tried).isNotDone();
        slow.open.complete(null);
        assertThat(tried.join()).hasValueSatisfying(Hold::close);
        hold.close();
    }

    @Test
    void ofThoseWhoTryNoneComesInWhereAnotherClientWaits() {
        line.loosens = false;
        Hold hold = downgraded();
        CompletableFuture<Hold> writer = theirs.write().acquireAsync();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.renews = slow;
        List<CompletableFuture<Optional<Hold>>> tries = IntStream.range(0, 5)
                .mapToObj(i -> lock.read().tryAcquireAsync(s(0)))
                .toList();
        slow.open.complete(null);
        assertThat(tries).allSatisfy(tried -> assertThat(tried.join()).isEmpty());
        hold.close();
        writer.join().close();
    }

    /** A hold that reads on for longer than others may join it without a request. */
    private Hold downgraded() {
        Hold hold = lock.write().acquireAsync().join();
        lock.downgrade(hold);
        time.advance(s(0.05));
        return hold;
    }
}
