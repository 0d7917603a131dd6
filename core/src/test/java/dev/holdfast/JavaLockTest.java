package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A distributed lock as {@link Lock}, and re-entry. */
@Timeout(30)
class JavaLockTest {
    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);
    private final LockClient client =
            LockClient.builder(memory.open(time)).time(time).build();
    private final LockClient rival =
            LockClient.builder(memory.open(time)).time(time).build();
    private final Lock lock = client.lock("a").asLock();

    @AfterEach
    void close() {
        client.close();
        rival.close();
    }

    @Test
    void itIsReentrantAndFreeAfterTheLastUnlock() throws Exception {
        lock.lock();
        lock.lock();
        assertThat(lock.tryLock()).isTrue();
        assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isTrue();
        lock.lockInterruptibly();
        for (int i = 0; i < 4; i++) {
            lock.unlock();
            assertThat(rival.lock("a").tryAcquire()).isEmpty();
        }
        lock.unlock();
        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aThreadThatDoesNotHoldItCannotUnlockIt() throws Exception {
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        lock.lock();
        assertThatThrownBy(() -> elsewhere(() -> {
                    lock.unlock();
                    return null;
                }))
                .hasCauseInstanceOf(IllegalMonitorStateException.class);
        boolean stolen = elsewhere(() -> lock.tryLock());
        assertThat(stolen).isFalse();
        lock.unlock();
        boolean free = elsewhere(() -> {
            boolean got = lock.tryLock();
            lock.unlock();
            return got;
        });
        assertThat(free).isTrue();
    }

    @Test
    void anInterruptEndsLockInterruptiblyAndNotLockNorTryLock() throws Exception {
        Thread.currentThread().interrupt();
        assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThat(lock.tryLock()).as("tryLock ignores it").isTrue();
        lock.unlock();
        lock.lock();
        assertThat(Thread.interrupted()).as("lock keeps it").isTrue();
        lock.unlock();
    }

    @Test
    void aThreadInterruptedWhileItWaitsInLockGetsTheLockAndKeepsTheFlag() throws Exception {
        Hold hold = rival.lock("a").acquire();
        AtomicBoolean flag = new AtomicBoolean();
        Thread waiter = new Thread(() -> {
            lock.lock();
            flag.set(Thread.currentThread().isInterrupted());
            lock.unlock();
        });
        waiter.start();
        await().until(() -> rival.lock("a").status().waiting() == 1);
        waiter.interrupt();
        await().until(() -> waiter.getState() == Thread.State.WAITING);
        hold.close();
        waiter.join();
        assertThat(flag).isTrue();
    }

    @Test
    void conditionsAreNotSupported() {
        assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void aLostLockIsToldAtUnlockAndRefusesReentry() throws Exception {
        lock.lock();
        lock.lock();
        rival.revoke("a", true);
        time.advance(Duration.ofSeconds(11));
        assertThatThrownBy(lock::lock).as("re-entry").isInstanceOf(HoldLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        lock.lock();
        lock.unlock();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void aLockWhoseThreadEndedIsRenewedNoMore() throws Exception {
        elsewhere(() -> {
            lock.lock();
            return null;
        });
        time.advance(Duration.ofSeconds(11));
        time.advance(Duration.ofSeconds(31));
        assertThat(rival.lock("a").tryAcquire()).isPresent();
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
        assertThat(rival.lock("a").tryAcquire()).isPresent();
        assertThatThrownBy(reentrant::acquireAsync).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void reentryIsOnlyForThreadsThatAskForIt() throws Exception {
        Hold plain = client.lock("a").acquire();
        assertThat(client.lock("a").tryAcquire()).isEmpty();
        assertThat(lock.tryLock())
                .as("a plain hold may be closed by any thread")
                .isFalse();
        plain.close();
    }

    private static <T> T elsewhere(Callable<T> what) throws InterruptedException, ExecutionException {
        FutureTask<T> task = new FutureTask<>(what);
        Thread thread = new Thread(task);
        thread.start();
        thread.join();
        return task.get();
    }
}
