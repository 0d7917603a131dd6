package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Only the thread that has the lock unlocks it; whoever failed to get it does not have it. */
class JavaLockOwnershipTest extends JavaLockCase {

    @Test
    void unlockWithoutLockIsRefusedAndNamesTheLock() {
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessageContaining("'a'")
                .hasMessageContaining(Thread.currentThread().getName());
    }

    @Test
    void oneUnlockTooManyIsRefusedAndHarmsNobody() throws Exception {
        lock.lock();
        lock.unlock();
        assertNotOwned();
        try (Hold next = rival.lock("a").acquire()) {
            assertNotOwned();
            assertThat(next.isValid()).isTrue();
        }
        lock.lock();
        lock.unlock();
        assertNotOwned();
    }

    @Test
    void anotherThreadsUnlockIsRefusedAndTheOwnerKeepsTheLock() throws Exception {
        lock.lock();
        assertThatThrownBy(() -> elsewhere(this::unlocked)).hasCauseInstanceOf(IllegalMonitorStateException.class);
        assertThat(isTakenByAnotherThread()).isFalse();
        assertThat(isFreeForRivals()).isFalse();
        lock.unlock();
        boolean free = elsewhere(() -> lock.tryLock() && unlocked());
        assertThat(free).isTrue();
    }

    @Test
    void aTryThatFailedGivesNothingToUnlock() throws Exception {
        try (Hold theirs = rival.lock("a").acquire()) {
            assertThat(lock.tryLock()).isFalse();
            assertNotOwned();
            assertThat(theirs.isValid()).isTrue();
        }
    }

    @Test
    void aHoldThatWasAcquiredOtherwiseIsNotUnlocked() throws Exception {
        try (Hold plain = client.lock("a").acquire()) {
            assertNotOwned();
            assertThat(plain.isValid()).isTrue();
        }
    }

    @Test
    void aStoreOutOfReachThrowsAndTheLockIsNotOwned() {
        line.claims = new HostileStore.RequestLost();
        assertThatThrownBy(lock::lock)
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("'a'");
        assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(StoreUnavailableException.class);
        assertThatThrownBy(lock::tryLock).isInstanceOf(StoreUnavailableException.class);
        assertNotOwned();
        line.claims = HostileStore.PASS;
        lock.lock();
        lock.unlock();
    }

    @Test
    void aClosedClientThrowsAndTheLockIsNotOwned() throws Exception {
        lock.lock();
        Started<Void> waiter = startAndWaitUntilItWaits(() -> {
            lock.lock();
            return null;
        });
        client.close();
        assertThatThrownBy(waiter::result)
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(ClientClosedException.class);
        assertNotOwned();
        assertThatThrownBy(lock::lock).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(lock::tryLock).isInstanceOf(ClientClosedException.class);
        assertThat(isFreeForRivals()).isTrue();
    }

    @Test
    void conditionsAreNotSupported() {
        assertThatThrownBy(lock::newCondition)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("'a'");
    }

    private boolean unlocked() {
        lock.unlock();
        return true;
    }

    private void assertNotOwned() {
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }
}
