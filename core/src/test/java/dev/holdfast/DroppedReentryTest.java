package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A thread of a pool drops a re-entrant hold without closing it, and goes on to other work. */
class DroppedReentryTest extends EngineCase {
    private final ExecutorService pool = Executors.newSingleThreadExecutor();
    private final DistributedLock lock =
            client.lock("a", HoldOptions.defaults().lease(s(30)).reentrant(true));

    @AfterEach
    void endPool() {
        pool.shutdownNow();
    }

    @Test
    void isReportedOnceAndTheNameIsFreeForTheThread() throws Exception {
        try (LogEar log = new LogEar()) {
            pool.submit(this::drop).get();
            soon(() -> {
                System.gc();
                time.advance(s(10.1)); // renewed until the collector has seen that nobody can close it
                return !log.with("is renewed no more").isEmpty();
            });
            time.advance(s(31));
            assertThat(log.with("lost the hold of 'a'")).hasSize(1);
            boolean again = pool.submit(() -> {
                        try (Hold hold = lock.acquire();
                                Hold inner = lock.acquire()) {
                            return hold.isValid() && inner.isValid();
                        }
                    })
                    .get();
            assertThat(again).isTrue();
            assertThat(log.with("is renewed no more")).hasSize(1);
        }
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void aThreadThatDroppedAReadersHoldWaitsToWriteUntilItsLeaseEnds() throws Exception {
        DistributedReadWriteLock both =
                client.readWriteLock("a", HoldOptions.defaults().lease(s(30)).reentrant(true));
        try (LogEar log = new LogEar()) {
            pool.submit(() -> acquireAndDrop(both.read()::acquire)).get();
            soon(() -> {
                System.gc();
                time.advance(s(10.1));
                return !log.with("is renewed no more").isEmpty();
            });
        }
        Future<Boolean> wrote = pool.submit(() -> {
            try (Hold hold = both.write().acquire()) {
                return hold.isValid();
            }
        });
        soon(() -> {
            time.advance(s(10.1));
            return wrote.isDone();
        });
        assertThat(wrote.get()).isTrue();
    }

    @Test
    void aThreadThatDroppedALostReadersHoldEntersItsWritersHoldToRead() throws Exception {
        DistributedReadWriteLock both =
                client.readWriteLock("a", HoldOptions.defaults().lease(s(30)).reentrant(true));
        Hold[] inHand = new Hold[1];
        inHand[0] = pool.submit(() -> both.read().acquire()).get();
        Breaking.shown(rival, "a", true);
        time.advance(s(11));
        assertThat(inHand[0].isValid()).isFalse();
        inHand[0] = null;
        boolean entered = pool.submit(() -> {
                    try (Hold write = both.write().acquire()) {
                        Optional<Hold> read = tryUntilTheLostHoldIsForgotten(both.read());
                        read.ifPresent(Hold::close);
                        return write.isValid() && read.isPresent();
                    }
                })
                .get();
        assertThat(entered).isTrue();
    }

    private static Optional<Hold> tryUntilTheLostHoldIsForgotten(DistributedLock lock) {
        while (true) {
            System.gc();
            try {
                return lock.tryAcquire();
            } catch (HoldLostException notCollectedYet) {
                Thread.onSpinWait();
            }
        }
    }

    private void drop() {
        acquireAndDrop(lock::acquire);
    }

    @SuppressWarnings("CheckReturnValue")
    private static void acquireAndDrop(Callable<Hold> acquire) {
        try {
            Hold dropped = acquire.call();
            assertThat(dropped.isValid()).isTrue();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aHoldThatIsStillInHandIsToldUntilItIsClosed() throws Exception {
        Hold outer = lock.acquire();
        Breaking.shown(rival, "a", true);
        time.advance(s(11));
        System.gc();
        assertThatThrownBy(lock::acquire).isInstanceOf(HoldLostException.class);
        assertThatThrownBy(lock::acquire).isInstanceOf(HoldLostException.class);
        assertThatThrownBy(outer::close).isInstanceOf(HoldLostException.class);
        lock.acquire().close();
    }
}
