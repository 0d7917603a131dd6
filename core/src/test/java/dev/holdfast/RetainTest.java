package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock that nobody uses stays with its client for a while, and goes as soon as another client wants it. */
class RetainTest extends BadLineCase {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final HoldOptions RETAINED =
            HoldOptions.defaults().lease(LEASE).retain(Duration.ofMinutes(5));

    private final DistributedLock lock = client.lock("a", RETAINED);

    private void use() throws InterruptedException {
        lock.acquire().close();
    }

    private void pass(Duration all, Duration step) {
        for (Duration passed = Duration.ZERO; passed.compareTo(all) < 0; passed = passed.plus(step)) {
            time.advance(step);
        }
    }

    private long requests() {
        return client.statistics().storeCalls();
    }

    @Test
    void acquiringARetainedLockAgainCostsNoRequest() throws Exception {
        Hold first = lock.acquire();
        first.close();
        long before = requests();

        for (int i = 1; i <= 1000; i++) {
            Hold next = lock.acquire();
            assertThat(next.token()).isEqualTo(first.token() + i);
            assertThat(next.isValid()).isTrue();
            next.close();
        }

        assertThat(requests()).isEqualTo(before);
        assertThat(line.claimRequests).hasValue(1);
        assertThat(line.watchRequests).hasValue(1);
    }

    @Test
    void aTryTakesItAgainAsWell() throws Exception {
        use();
        long before = requests();

        try (Hold again = lock.tryAcquire().orElseThrow()) {
            assertThat(again.isValid()).isTrue();
        }

        assertThat(requests()).isEqualTo(before);
    }

    @Test
    void whenTheTokensOfAGrantAreUsedUpItIsClaimedAnew() throws Exception {
        long last = 0;
        for (int i = 0; i < 3000; i++) {
            Hold hold = lock.acquire();
            assertThat(hold.token()).isGreaterThan(last);
            last = hold.token();
            hold.close();
        }
        assertThat(line.claimRequests).as("1024 tokens for each grant").hasValue(3);
    }

    @Test
    void aRivalGetsAnUnusedLockImmediately() throws Exception {
        Hold first = lock.acquire();
        first.close();

        try (Hold theirs = rival.lock("a").acquire()) {
            assertThat(theirs.token()).isGreaterThan(first.token());
            assertThat(lock.tryAcquire()).isEmpty();
        }
        assertThat(line.releaseRequests).hasValue(1);
    }

    @Test
    void aRivalGetsALockInUseWhenItsHoldCloses() throws Exception {
        use();
        Hold inUse = lock.acquire();
        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();
        assertThat(theirs).isNotDone();

        inUse.close();

        assertThat(theirs).isCompleted();
        theirs.join().close();
    }

    @Test
    void aRivalThatWaitedBeforeTheFirstCloseGetsItAtTheClose() throws Exception {
        Hold inUse = lock.acquire();
        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();

        inUse.close();

        assertThat(theirs).isCompleted();
        theirs.join().close();
    }

    @Test
    void itIsReleasedForAReaderOfTheSameClient() throws Exception {
        use();

        try (Hold reader = client.readWriteLock("a").read().tryAcquire().orElseThrow()) {
            assertThat(reader.isValid()).isTrue();
        }
    }

    @Test
    void itIsReleasedWhenItHasNotBeenUsedForLong() throws Exception {
        use();
        pass(Duration.ofMinutes(4), Duration.ofSeconds(5));
        use();
        pass(Duration.ofMinutes(4), Duration.ofSeconds(5));
        assertThat(rival.lock("a").status().isHeld()).isTrue();

        pass(Duration.ofMinutes(2), Duration.ofSeconds(5));

        assertThat(rival.lock("a").status().isHeld()).isFalse();
        assertThat(line.claimRequests).hasValue(1);
        assertThat(line.releaseRequests).hasValue(1);
    }

    @Test
    void askingForItsStatusDoesNotEndIt() throws Exception {
        use();

        assertThat(lock.status().isHeld()).isTrue();
        assertThat(client.list("*")).hasSize(1);

        assertThat(line.releaseRequests).hasValue(0);
        use();
        assertThat(line.claimRequests).hasValue(1);
    }

    @Test
    void aLockThatWasLostWhileUnusedIsClaimedAnew() throws Exception {
        use();
        line.renewals = UnreliableStore.Line.REQUEST_LOST;
        pass(LEASE.plusSeconds(1), Duration.ofSeconds(1));
        line.renewals = UnreliableStore.Line.UP;
        Hold theirs = rival.lock("a").tryAcquire().orElseThrow();

        assertThat(lock.tryAcquire()).isEmpty();
        theirs.close();

        try (Hold fresh = lock.acquire()) {
            assertThat(fresh.token()).isGreaterThan(theirs.token());
            assertThat(fresh.isValid()).isTrue();
        }
    }

    @Test
    void aLockInDoubtIsClaimedAnewBeforeAnybodyHasIt() throws Exception {
        use();
        time.sleepMachine(LEASE.plusSeconds(1));

        try (Hold fresh = lock.acquire()) {
            assertThat(fresh.isValid()).isTrue();
        }
        assertThat(line.claimRequests).hasValue(2);
    }

    @Test
    void aBrokenLockIsNotHandedOutOnceARenewalHasFoundThat() throws Exception {
        use();
        LockStatus.Held shown = rival.lock("a").status().grant().orElseThrow();
        assertThat(rival.breakGrant("a", shown.token(), true)).isTrue();
        time.advance(LEASE.dividedBy(3).plusSeconds(1));
        Hold theirs = rival.lock("a").tryAcquire().orElseThrow();

        assertThat(lock.tryAcquire()).isEmpty();
        theirs.close();
    }

    @Test
    void ifTheMessageIsLostTheNextRenewalEndsIt() throws Exception {
        use();
        line.losesWanted = true;
        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();
        assertThat(theirs).isNotDone();

        time.advance(LEASE.dividedBy(3).plusSeconds(1));

        assertThat(theirs).isCompleted();
        theirs.join().close();
    }

    @Test
    void aLockThatTheStoreDoesNotWatchIsNotRetained() throws Exception {
        line.watches = UnreliableStore.Line.REQUEST_LOST;
        use();

        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void closingTheClientReleasesIt() throws Exception {
        use();

        client.close();

        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void callersOfOneClientStillFollowEachOther() throws Exception {
        use();
        List<Long> tokens = new CopyOnWriteArrayList<>();
        Hold first = lock.acquire();
        CompletableFuture<Void> second = lock.acquireAsync().thenAccept(hold -> {
            tokens.add(hold.token());
            hold.close();
        });
        CompletableFuture<Void> third = client.lock("a").acquireAsync().thenAccept(hold -> {
            tokens.add(hold.token());
            hold.close();
        });

        first.close();

        assertThat(second).isCompleted();
        assertThat(third).isCompleted();
        assertThat(tokens).isSorted().hasSize(2).allMatch(token -> token > first.token());
        assertThat(rival.lock("a").tryAcquire())
                .as("the last of them does not retain it")
                .isPresent();
    }

    @Test
    @Tag("thorough")
    void ofTooManyTheOneUsedLeastRecentlyIsReleased() throws Exception {
        for (int i = 0; i < 10_000; i++) {
            client.lock("n" + i, RETAINED).acquire().close();
        }
        client.lock("n0", RETAINED).acquire().close();

        client.lock("one more", RETAINED).acquire().close();

        assertThat(line.releaseRequests).hasValue(1);
        assertThat(rival.lock("n1").tryAcquire()).isPresent();
        assertThat(rival.lock("n0").tryAcquire()).isEmpty();
    }

    @Test
    void durationsOutsideTheRangeAreRefused() {
        HoldOptions options = HoldOptions.defaults();
        for (Duration bad : new Duration[] {
            Duration.ofNanos(-1), Duration.ofHours(1).plusNanos(1), Duration.ofSeconds(Long.MAX_VALUE)
        }) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> options.retain(bad))
                    .withMessageContaining("0s to 1h");
        }
        assertThat(options.retain()).isZero();
        assertThat(options.retain(Duration.ofHours(1)).retain()).isEqualTo(Duration.ofHours(1));
        assertThat(RETAINED).isNotEqualTo(RETAINED.retain(Duration.ZERO));
        assertThat(RETAINED.toString()).contains("retain=5m");
    }

    @Test
    void whatCannotBeRetainedIsRefusedWithAReason() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.lock("a", RETAINED.autoRenew(false)))
                .withMessageContaining("autoRenew");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.lock("a", RETAINED.strictFifo(true)))
                .withMessageContaining("strictFifo");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.lock("a", RETAINED.awaitRelease(true)))
                .withMessageContaining("awaitRelease");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.lock("a", RETAINED.handOver(0, Duration.ZERO)))
                .withMessageContaining("handOver");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.election("a", RETAINED))
                .withMessageContaining("election 'a'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.readWriteLock("a", RETAINED))
                .withMessageContaining("read-write lock 'a'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.semaphore("a", 3, RETAINED))
                .withMessageContaining("permits");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.multiLock(List.of("a", "b"), RETAINED))
                .withMessageContaining("several names");
    }

    @Test
    void aStoreThatDoesNotReportWhenALockIsWantedIsRefused() {
        HostileStore plain = new HostileStore(memory.open(time));
        plain.caps = capabilities -> capabilities.wanted(false);
        try (LockClient other = LockClient.builder(plain).time(time).build()) {
            assertThatThrownBy(() -> other.lock("a", RETAINED))
                    .isInstanceOf(UnsupportedByStoreException.class)
                    .hasMessageContaining("does not report when another client waits");
        }
    }
}
