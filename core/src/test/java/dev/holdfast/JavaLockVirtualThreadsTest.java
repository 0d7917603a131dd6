package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Virtual threads own the lock as any others do; by reflection, since the build knows Java 17 alone. */
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads need Java 21 or later")
@Tag("both-jdks")
class JavaLockVirtualThreadsTest extends JavaLockCase {
    private int count; // plain on purpose: the lock guards it

    @Test
    void tenThousandOfThemTakeTurns() throws Exception {
        lock.lock();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            threads.add(startVirtual(() -> {
                lock.lock();
                lock.lock();
                count++;
                lock.unlock();
                lock.unlock();
            }));
        }
        lock.unlock();
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(count).isEqualTo(10_000);
        assertThat(isFreeForRivals()).isTrue();
    }

    @Test
    void theLockOfOneIsNotThatOfAnotherOnTheSameCarrier() throws Exception {
        FutureTask<Void> owner = new FutureTask<>(() -> {
            lock.lock();
            FutureTask<Boolean> other = new FutureTask<>(lock::tryLock);
            startVirtual(other);
            assertThat(other.get()).isFalse();
            FutureTask<Void> thief = new FutureTask<>(lock::unlock, null);
            startVirtual(thief);
            assertThatThrownBy(thief::get).hasCauseInstanceOf(IllegalMonitorStateException.class);
            lock.unlock();
            return null;
        });
        startVirtual(owner);
        owner.get();
        assertThat(isFreeForRivals()).isTrue();
    }

    @Test
    void anInterruptEndsTheirWait() throws Exception {
        lock.lock();
        FutureTask<Boolean> task = new FutureTask<>(() -> lock.tryLock(1, TimeUnit.DAYS));
        Thread waiter = startVirtual(task);
        soon(() -> waitsForALock(waiter));
        waiter.interrupt();
        assertThatThrownBy(task::get).hasCauseInstanceOf(InterruptedException.class);
        lock.unlock();
        assertThat(isFreeForRivals()).isTrue();
    }

    @Test
    void theLockOfOneThatEndedIsRenewedNoMore() throws Exception {
        startVirtual(lock::lock).join();
        time.advance(Duration.ofSeconds(29));
        assertThat(isFreeForRivals()).isFalse();
        time.advance(Duration.ofSeconds(2));
        assertThat(isFreeForRivals()).isTrue();
    }

    private static Thread startVirtual(Runnable task) throws ReflectiveOperationException {
        return (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }
}
