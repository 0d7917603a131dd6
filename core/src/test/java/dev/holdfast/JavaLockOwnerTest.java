package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** What a thread learns of its own ownership. */
class JavaLockOwnerTest extends EngineCase {
    private final ThreadLock lock = client.lock("a", lease(10)).asLock();

    @Test
    void aThreadCountsItsEntries() throws Exception {
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(lock.getHoldCount()).isZero();
        lock.lock();
        lock.lock();
        assertThat(lock.isHeldByCurrentThread()).isTrue();
        assertThat(lock.getHoldCount()).isEqualTo(2);
        assertThat(start(lock::isHeldByCurrentThread).result())
                .as("another thread")
                .isFalse();
        assertThat(start(lock::getHoldCount).result()).as("another thread").isZero();
        lock.unlock();
        assertThat(lock.getHoldCount()).isEqualTo(1);
        lock.unlock();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
    }

    @Test
    void aLockThatWasLostIsNotHeldButStillCounted() {
        lock.lock();
        lose();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(lock.getHoldCount()).isEqualTo(1);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(lock.getHoldCount()).isZero();
    }

    private void lose() {
        Breaking.shown(rival, "a", true);
        time.advance(s(11)); // its renewal is refused
    }
}
