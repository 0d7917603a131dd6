package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A thread that ends without unlocking leaks the lock: that is said, and the lock is free when its lease ends. */
class JavaLockLeakTest extends JavaLockCase {

    @Test
    void aLockWhoseThreadEndedIsReportedAndRenewedNoMore() throws Exception {
        Thread leaky = new Thread(this::lockThrice, "leaky");
        assertLeaks(leaky);
    }

    @Test
    void soIsThatOfAThreadKilledByAnException() throws Exception {
        Thread killed = new Thread(
                () -> {
                    lockThrice();
                    throw new OutOfMemoryError("killed");
                },
                "leaky");
        killed.setUncaughtExceptionHandler((thread, thrown) -> {});
        assertLeaks(killed);
    }

    private void lockThrice() {
        lock.lock();
        lock.lock();
        lock.lock();
    }

    private void assertLeaks(Thread leaky) throws Exception {
        try (LogEar log = new LogEar()) {
            leaky.start();
            leaky.join();
            Started<Boolean> waiter = startAndWaitUntilItWaits(() -> {
                lock.lock();
                lock.unlock();
                return true;
            });
            assertThat(isFreeForRivals()).as("never before its lease ends").isFalse();
            time.advance(Duration.ofSeconds(29));
            assertThat(waitsForALock(waiter.thread())).isTrue();
            time.advance(Duration.ofSeconds(2));
            assertThat(waiter.result()).isTrue();
            assertThat(log.with("its thread has ended"))
                    .singleElement()
                    .asString()
                    .contains("'a'", "'leaky'");
        }
    }

    @Test
    void aLivingThreadKeepsTheLockThoughNobodyRefersToAnythingOfIt() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch locked = new CountDownLatch(1);
        Started<Void> owner = start(() -> {
            client.lock("a").asLock().lock();
            locked.countDown();
            end.await();
            client.lock("a").asLock().unlock();
            return null;
        });
        locked.await();
        for (int i = 0; i < 20; i++) {
            System.gc();
            time.advance(Duration.ofSeconds(10));
            assertThat(isFreeForRivals()).isFalse();
        }
        end.countDown();
        owner.result();
        assertThat(isFreeForRivals()).isTrue();
    }
}
