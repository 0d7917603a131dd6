package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What waits in the store for a semaphore is what somebody here still wants. */
class SemaphoreQueueTest extends EngineCase {
    private final DistributedSemaphore four = client.semaphore("s", 4, lease(10));
    private final DistributedSemaphore theirs = rival.semaphore("s", 4, lease(10));

    @Test
    void permitsPassedOnHereLeaveNoClaimBehindThatWouldHoldUpOthers() {
        Hold three = four.acquireAsync(3).join();
        CompletableFuture<Hold> next = four.acquireAsync(3);
        CompletableFuture<Hold> their = theirs.acquireAsync(1);
        assertThat(their).as("behind one who wants more").isNotDone();
        three.close();
        assertThat(next).isDone();
        assertThat(their).as("one permit is free, and nobody else waits").isDone();
        next.join().close();
        their.join().close();
    }

    @Test
    void permitsPassedOnHereChangeWhatTheNextOneAsksFor() {
        Hold three = four.acquireAsync(3).join();
        CompletableFuture<Hold> many = four.acquireAsync(3);
        CompletableFuture<Hold> few = four.acquireAsync(1);
        three.close();
        assertThat(many).isDone();
        assertThat(few).as("one permit is free, and nobody is before it").isDone();
        many.join().close();
        few.join().close();
    }

    @Test
    void whoGivesUpManyPermitsHoldsUpNobodyWhoWantsFew() {
        Hold three = theirs.acquireAsync(3).join();
        CompletableFuture<Hold> many = four.acquireAsync(3);
        CompletableFuture<Hold> few = four.acquireAsync(1);
        assertThat(few).as("behind one who wants more").isNotDone();
        many.cancel(false);
        assertThat(few).as("one permit is free, and nobody is before it").isDone();
        few.join().close();
        three.close();
    }

    @Test
    @Tag("thorough")
    void thousandsWhoWaitAreServedOneAfterAnotherAndNotOneWithinAnother() {
        DistributedSemaphore wide = client.semaphore("w", 3000, lease(10));
        Hold all = rival.semaphore("w", 3000, lease(10)).acquireAsync(3000).join();
        List<CompletableFuture<Hold>> waiting =
                IntStream.range(0, 3000).mapToObj(i -> wide.acquireAsync(1)).toList();
        all.close();
        assertThat(waiting).allMatch(CompletableFuture::isDone);
        waiting.forEach(permit -> permit.join().close());
    }

    @Test
    void aTryComesBehindTheReleaseOfItsOwnClientWhereRequestsOvertakeEachOther() throws Exception {
        line.caps = c -> HostileStore.with(c, false, false, true);
        DistributedSemaphore single = clientOn(line, time).semaphore("one", 1, lease(10));
        Hold only = single.acquire();
        HostileStore.HoldRequest slow = new HostileStore.HoldRequest();
        line.releases = slow;
        only.close();
        Started<Optional<Hold>> trying = startAndWaitUntilItWaits(single::tryAcquire);
        line.releases = HostileStore.PASS;
        slow.open.complete(null);
        assertThat(trying.result()).hasValueSatisfying(Hold::close);
    }
}
