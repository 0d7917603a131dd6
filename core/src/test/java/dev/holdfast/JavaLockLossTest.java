package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What no lock inside one process knows: it can be lost. Then every unlock says so, and the next lock is a new one. */
class JavaLockLossTest extends JavaLockCase {

    @Test
    void aLostLockIsToldAtEveryUnlockAndRefusesReentry() throws Exception {
        lock.lock();
        lock.lock();
        loseIt();
        assertThatThrownBy(lock::lock).isInstanceOf(HoldLostException.class);
        assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(HoldLostException.class);
        assertThatThrownBy(lock::tryLock).isInstanceOf(HoldLostException.class);
        assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS)).isInstanceOf(HoldLostException.class);
        assertUnlockTellsTheLoss();
        assertUnlockTellsTheLoss();
        assertThatThrownBy(lock::unlock)
                .as("no more than it was entered")
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasNoCause();
        lock.lock();
        lock.unlock();
        assertThat(isFreeForRivals()).isTrue();
    }

    @Test
    void theUnlockOfALostLockFreesNobodyElses() throws Exception {
        lock.lock();
        loseIt();
        Hold theirs = rival.lock("a").tryAcquire().orElseThrow();
        assertUnlockTellsTheLoss();
        assertThat(theirs.isValid()).isTrue();
        assertThat(lock.tryLock()).isFalse();
        theirs.close();
    }

    @Test
    void anotherThreadOfTheClientHasItWhileTheLoserHasNotUnlockedYet() throws Exception {
        lock.lock();
        loseIt();
        Started<Void> next = start(() -> {
            lock.lock();
            return null;
        });
        next.result();
        assertUnlockTellsTheLoss();
        assertThat(lock.tryLock()).as("the other thread has it").isFalse();
    }

    @Test
    void aLossWhileOthersWaitServesThem() throws Exception {
        lock.lock();
        Started<Boolean> waiter = startAndWaitUntilItWaits(() -> lock.tryLock(1, TimeUnit.DAYS));
        loseIt();
        assertThat(waiter.result()).isTrue();
        assertUnlockTellsTheLoss();
    }

    private void loseIt() {
        Breaking.shown(rival, "a", true);
        time.advance(Duration.ofSeconds(11)); // its renewal is refused
    }

    private void assertUnlockTellsTheLoss() {
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasCauseInstanceOf(HoldLostException.class)
                .hasMessageContaining("'a'");
    }
}
