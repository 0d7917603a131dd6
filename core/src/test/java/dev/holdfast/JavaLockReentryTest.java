package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** A thread that has the lock enters again at once, and leaves as often as it entered. */
class JavaLockReentryTest extends JavaLockCase {

    @Test
    void everyWayInIsAnEntryAndTheLockIsFreeAfterAsManyUnlocks() throws Exception {
        lock.lock();
        lock.lock();
        assertThat(lock.tryLock()).isTrue();
        assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isTrue();
        assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isTrue();
        lock.lockInterruptibly();
        for (int i = 0; i < 5; i++) {
            lock.unlock();
            assertThat(isFreeForRivals()).isFalse();
            assertThat(isTakenByAnotherThread()).isFalse();
        }
        lock.unlock();
        assertThat(isFreeForRivals()).isTrue();
    }

    @Test
    void tenThousandEntriesNeedTenThousandUnlocks() {
        for (int i = 0; i < 10_000; i++) {
            lock.lock();
        }
        for (int i = 0; i < 9_999; i++) {
            lock.unlock();
        }
        assertThat(isFreeForRivals()).isFalse();
        lock.unlock();
        assertThat(isFreeForRivals()).isTrue();
    }

    @Test
    void moreEntriesThanAnIntCountsAreAnError() throws Exception {
        lock.lock();
        Entries.set(client, "a", Integer.MAX_VALUE);
        assertThatThrownBy(lock::lock).isInstanceOf(Error.class).hasMessageContaining("'a'");
        assertThatThrownBy(lock::tryLock).isInstanceOf(Error.class);
        Entries.set(client, "a", 1);
        lock.unlock();
        assertThat(isFreeForRivals()).isTrue();
    }

    @Test
    void reentryAsksTheStoreNothing() {
        lock.lock();
        lock.lock();
        lock.unlock();
        assertThat(line.claimed).hasSize(1);
        assertThat(line.renewed).isEmpty();
        assertThat(line.released).isEmpty();
        lock.unlock();
        assertThat(line.released).hasSize(1);
    }

    @Test
    void reentryGoesAheadOfThoseWhoWait() throws Exception {
        lock.lock();
        Started<Void> waiter = startAndWaitUntilItWaits(() -> {
            lock.lock();
            lock.unlock();
            return null;
        });
        lock.lock();
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
        lock.unlock();
        assertThat(waitsForALock(waiter.thread())).isTrue();
        lock.unlock();
        waiter.result();
    }

    @Test
    void allViewsOfANameInOneClientAreOneLock() {
        Lock same = client.lock("a", HoldOptions.defaults().lease(Duration.ofSeconds(5)))
                .asLock();
        Lock other = client.lock("b").asLock();
        lock.lock();
        same.lock();
        lock.unlock();
        assertThat(isFreeForRivals()).isFalse();
        assertThatThrownBy(other::unlock).isInstanceOf(IllegalMonitorStateException.class);
        same.unlock();
        assertThat(isFreeForRivals()).isTrue();
    }

    @Test
    void twoClientsExcludeEachOtherOnOneThreadToo() throws Exception {
        Lock rivals = rival.lock("a").asLock();
        lock.lock();
        assertThat(rivals.tryLock()).isFalse();
        assertThatThrownBy(rivals::unlock).isInstanceOf(IllegalMonitorStateException.class);
        lock.unlock();
        assertThat(rivals.tryLock()).isTrue();
        rivals.unlock();
    }

    @Test
    void aReentrantHoldKeepsItsTokenAndBelongsToItsThread() throws Exception {
        DistributedLock reentrant = client.lock("a", HoldOptions.defaults().reentrant(true));
        Hold outer = reentrant.acquire();
        Hold inner = reentrant.acquire();
        assertThat(inner.token()).isEqualTo(outer.token());
        assertThatThrownBy(() -> elsewhere(() -> {
                    inner.close();
                    return null;
                }))
                .hasCauseInstanceOf(IllegalMonitorStateException.class);
        inner.close();
        inner.close();
        assertThat(outer.isValid()).isTrue();
        lock.lock();
        lock.unlock();
        assertThat(outer.isValid()).as("asLock enters the same hold").isTrue();
        outer.close();
        assertThat(isFreeForRivals()).isTrue();
        assertThatThrownBy(reentrant::acquireAsync).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void reentryIsOnlyForThreadsThatAskedForIt() throws Exception {
        try (Hold plain = client.lock("a").acquire()) {
            assertThat(client.lock("a").tryAcquire()).isEmpty();
            assertThat(lock.tryLock())
                    .as("a plain hold may be closed by any thread")
                    .isFalse();
            assertThat(plain.isValid()).isTrue();
        }
    }
}
