package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/**
 * To enter again says as much as to enter: the lock is held. A thread whose hold is in doubt is not told so before the
 * store has confirmed it.
 */
class SuspectReentryTest extends EngineCase {
    private final Lock lock = client.lock("a").asLock();
    private final HostileStore.HoldReply confirmation = new HostileStore.HoldReply();
    private final CountDownLatch inDoubt = new CountDownLatch(1);

    @Test
    void lockWaitsUntilTheStoreHasConfirmedTheHold() throws Exception {
        Started<Boolean> owner = startInDoubt(() -> {
            lock.lock();
            lock.unlock();
            lock.unlock();
            return true;
        });
        soon(owner::isWaiting);
        owner.thread().interrupt(); // lock() does not heed it
        soon(owner::isWaiting);
        confirm();
        assertThat(owner.result()).isTrue();
        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void lockSaysThatItIsLostWhereTheStoreDoesNotConfirmIt() throws Exception {
        Started<Boolean> owner = startInDoubt(() -> {
            assertThatThrownBy(lock::lock).isInstanceOf(HoldLostException.class);
            assertThatThrownBy(lock::unlock).hasCauseInstanceOf(HoldLostException.class);
            return true;
        });
        soon(owner::isWaiting);
        Breaking.shown(rival, "a", true);
        line.renews = HostileStore.PASS;
        time.advance(Duration.ofSeconds(31));
        assertThat(owner.result()).isTrue();
    }

    @Test
    void aTryDoesNotWaitForTheConfirmationAndSaysNo() throws Exception {
        Started<Boolean> owner = startInDoubt(() -> {
            assertThat(lock.tryLock()).isFalse();
            assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isFalse();
            confirm();
            assertThat(lock.tryLock()).isTrue();
            lock.unlock();
            lock.unlock();
            return true;
        });
        assertThat(owner.result()).isTrue();
        assertThat(rival.lock("a").tryAcquire())
                .as("the tries that failed were no entries")
                .isPresent();
    }

    @Test
    void aTimedTryWaitsForTheConfirmationForItsTime() throws Exception {
        Started<Boolean> owner = startInDoubt(() -> {
            assertThat(lock.tryLock(2, TimeUnit.SECONDS)).isFalse();
            lock.unlock();
            return true;
        });
        soon(owner::isWaiting);
        time.advance(Duration.ofMillis(1999));
        soon(owner::isWaiting);
        time.advance(Duration.ofMillis(1));
        assertThat(owner.result()).isTrue();
        confirm();
    }

    @Test
    void anInterruptEndsTheWaitForTheConfirmationAndTheHoldStays() throws Exception {
        Started<Boolean> owner = startInDoubt(() -> {
            assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
            boolean flag = Thread.currentThread().isInterrupted();
            lock.unlock();
            return flag;
        });
        soon(owner::isWaiting);
        owner.thread().interrupt();
        assertThat(owner.result()).as("the flag, once told").isFalse();
        confirm();
    }

    @Test
    void closingTheClientEndsTheWaitForTheConfirmation() throws Exception {
        Started<Boolean> owner = startInDoubt(() -> {
            assertThatThrownBy(lock::lock).isInstanceOf(HoldfastException.class);
            return true;
        });
        soon(owner::isWaiting);
        client.close();
        assertThat(owner.result()).isTrue();
    }

    @Test
    void aReentrantHoldInDoubtIsEnteredOnlyOnceItIsConfirmed() throws Exception {
        DistributedLock reentrant = client.lock("a", HoldOptions.defaults().reentrant(true));
        AtomicReference<Hold> outer = new AtomicReference<>();
        Started<Boolean> owner = start(() -> {
            outer.set(reentrant.acquire());
            doubt(outer.get().id());
            assertThat(reentrant.tryAcquire()).isEmpty();
            try (Hold inner = reentrant.acquire()) {
                assertThat(inner.isValid()).isTrue();
            }
            outer.get().close();
            return true;
        });
        inDoubt.await();
        soon(owner::isWaiting);
        confirm();
        assertThat(owner.result()).isTrue();
    }

    private interface Step {
        boolean run() throws InterruptedException, ExecutionException;
    }

    /** A thread that locks, has its hold doubted, and then goes on. */
    private Started<Boolean> startInDoubt(Step then) throws InterruptedException {
        Started<Boolean> started = start(() -> {
            lock.lock();
            doubt(line.claimed.get(0).id().value());
            return then.run();
        });
        inDoubt.await();
        return started;
    }

    private void doubt(String id) {
        line.renews = confirmation;
        line.listener.suspect(grantOf(id));
        time.advance(Duration.ZERO); // the store is asked at once, and does not answer yet
        inDoubt.countDown();
    }

    private void confirm() {
        confirmation.open.complete(null);
    }
}
