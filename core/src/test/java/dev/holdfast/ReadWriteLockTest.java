package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.Test;

/** Many read or one writes, and who came first is served first. */
class ReadWriteLockTest extends EngineCase {
    private final DistributedReadWriteLock lock = client.readWriteLock("a", lease(10));
    private final DistributedReadWriteLock theirs = rival.readWriteLock("a", lease(10));

    @Test
    void readersShareAndAWriterIsAlone() throws Exception {
        Hold reading = lock.read().acquire();
        Hold beside = theirs.read().acquire();
        assertThat(rival.lock("a").tryAcquire()).isEmpty();
        reading.close();
        assertThat(client.lock("a").tryAcquire()).isEmpty();
        beside.close();
        Hold writing = lock.write().acquire();
        assertThat(writing.token()).isGreaterThan(Math.max(reading.token(), beside.token()));
        assertThat(theirs.read().tryAcquire()).isEmpty();
        writing.close();
        try (Hold after = theirs.read().acquire()) {
            assertThat(after.token()).isGreaterThan(writing.token());
        }
    }

    @Test
    void readersOfOneClientShareAGrantAndAToken() throws Exception {
        Hold first = lock.read().acquire();
        Hold second = lock.read().acquire();
        assertThat(line.claimed).hasSize(1);
        assertThat(second.token()).isEqualTo(first.token());
        assertThat(second.id()).isEqualTo(first.id());
        first.close();
        assertThat(second.isValid()).isTrue();
        assertThat(rival.lock("a").tryAcquire()).isEmpty();
        second.close();
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void noReaderOvertakesAWriterOfTheSameClient() throws Exception {
        Hold reading = lock.read().acquire();
        CompletableFuture<Hold> writer = lock.write().acquireAsync();
        CompletableFuture<Hold> late = lock.read().acquireAsync();
        assertThat(lock.read().tryAcquire()).isEmpty();
        assertThat(late).isNotDone();
        reading.close();
        assertThat(writer).isDone();
        assertThat(late).isNotDone();
        writer.join().close();
        assertThat(late.join().token()).isGreaterThan(writer.join().token());
        late.join().close();
    }

    @Test
    void aReaderWhoCameAfterAWriterDoesNotComeInWithThoseWhoCameBeforeIt() {
        Hold theirWriting = theirs.write().acquireAsync().join();
        CompletableFuture<Hold> early = lock.read().acquireAsync();
        time.advance(s(0.01));
        CompletableFuture<Hold> writer = lock.write().acquireAsync();
        time.advance(s(0.01));
        CompletableFuture<Hold> late = lock.read().acquireAsync();
        theirWriting.close();
        assertThat(early).isDone();
        assertThat(late).isNotDone();
        early.join().close();
        assertThat(writer).isDone();
        assertThat(late).isNotDone();
        writer.join().close();
        assertThat(late).isDone();
        late.join().close();
    }

    @Test
    void readersJoinNoMoreOnceAWriterOfAnotherClientIsKnownToWait() {
        DistributedReadWriteLock bounded = client.readWriteLock("a", lease(10).handOver(64, Duration.ofMillis(10)));
        Hold reading = bounded.read().acquireAsync().join();
        CompletableFuture<Hold> writer = theirs.write().acquireAsync();
        time.advance(s(0.008));
        Hold joined = bounded.read().acquireAsync().join(); // within the bound, and now the store is asked
        assertThat(line.renewed).isNotEmpty();
        time.advance(s(0.008));
        CompletableFuture<Hold> late = bounded.read().acquireAsync();
        assertThat(late).isNotDone();
        reading.close();
        joined.close();
        assertThat(writer).isDone();
        assertThat(late).isNotDone();
        writer.join().close();
        assertThat(late).isDone();
        late.join().close();
    }

    @Test
    void readersGoOnJoiningWhereNobodyElseWaits() {
        DistributedReadWriteLock bounded = client.readWriteLock("a", lease(10).handOver(64, Duration.ofMillis(10)));
        Hold first = bounded.read().acquireAsync().join();
        for (int i = 0; i < 10; i++) {
            time.advance(s(0.006));
            bounded.read().acquireAsync().join().close();
        }
        assertThat(line.claimed).hasSize(1);
        first.close();
    }

    @Test
    void aReaderIsRenewedNoLongerThanItsMaximumThoughOthersGoOnJoining() {
        HoldOptions options = lease(10).handOver(64, s(2));
        Hold hung = client.readWriteLock("a", options.maxHold(s(30)))
                .read()
                .acquireAsync()
                .join();
        hung.onLost(losses::add);
        for (int i = 0; i < 60 && hung.isValid(); i++) {
            time.advance(s(1.2));
            client.readWriteLock("a", options).read().acquireAsync().join().close();
        }
        await().until(() -> losses.size() == 1); // it is reported on another thread
        assertThat(losses.get(0).cause()).isEqualTo(Loss.Cause.MAX_HOLD_REACHED);
        assertThat(hung.heldFor())
                .as("the maximum, the time between two readers, and a lease")
                .isLessThan(s(42));
    }

    @Test
    void inStrictOrderEachReaderGoesThroughTheStore() throws Exception {
        DistributedReadWriteLock strict = client.readWriteLock("a", lease(10).strictFifo(true));
        try (Hold first = strict.read().acquire();
                Hold second = strict.read().acquire()) {
            assertThat(second.id()).isNotEqualTo(first.id());
            assertThat(line.claimed).hasSize(2);
        }
    }

    @Test
    void aWriterBecomesAReaderInPlace() throws Exception {
        Hold hold = lock.write().acquire();
        long token = hold.token();
        CompletableFuture<Hold> nextWriter = theirs.write().acquireAsync();
        lock.downgrade(hold);
        assertThat(hold.isValid()).isTrue();
        assertThat(hold.token()).isEqualTo(token);
        assertThat(nextWriter).isNotDone();
        assertThatThrownBy(() -> lock.downgrade(hold)).isInstanceOf(IllegalStateException.class);
        advance(30, s(1));
        assertThat(hold.isValid()).as("renewed as before").isTrue();
        hold.close();
        assertThat(nextWriter.join().token()).isGreaterThan(token);
        nextWriter.join().close();
    }

    @Test
    void readersOfAllClientsComeInBesideAWriterWhoReads() throws Exception {
        Hold hold = lock.write().acquire();
        lock.downgrade(hold);
        Hold own = lock.read().acquire();
        Hold other = theirs.read().acquire();
        assertThat(own.token()).isGreaterThan(hold.token());
        assertThat(other.token()).isGreaterThan(hold.token());
        hold.close();
        assertThat(own.isValid()).isTrue();
        own.close();
        other.close();
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void waitersOfTheSameClientGoOnAfterADowngrade() {
        Hold hold = lock.write().acquireAsync().join();
        CompletableFuture<Hold> writer = lock.write().acquireAsync();
        lock.downgrade(hold);
        assertThat(writer).isNotDone();
        hold.close();
        writer.join().close();
    }

    @Test
    void onlyAnOpenWriteHoldOfThisLockCanBeDowngraded() throws Exception {
        Hold reading = lock.read().acquire();
        assertThatThrownBy(() -> lock.downgrade(reading))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'a'");
        reading.close();
        Hold closed = lock.write().acquire();
        closed.close();
        assertThatThrownBy(() -> lock.downgrade(closed)).isInstanceOf(IllegalStateException.class);
        try (Hold foreign = theirs.write().acquire()) {
            assertThatThrownBy(() -> lock.downgrade(foreign))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("cannot downgrade 'a' on hostile")
                    .hasMessageContaining("write()");
        }
        Hold lost = lock.write().acquire();
        Breaking.shown(rival, "a", true);
        advance(4, s(1));
        assertThatThrownBy(() -> lock.downgrade(lost)).isInstanceOf(HoldLostException.class);
        assertThatThrownBy(lost::close).isInstanceOf(HoldLostException.class);
    }

    @Test
    void aThreadBoundReaderWhoWantsToWriteIsToldNoAtOnce() throws Exception {
        DistributedReadWriteLock bound = client.readWriteLock("a", lease(10).reentrant(true));
        try (Hold reading = bound.read().acquire()) {
            assertThat(bound.write().tryAcquire()).isEmpty();
            assertThatThrownBy(() -> bound.write().acquire())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("'a'")
                    .hasMessageContaining("close that hold first");
            assertThatThrownBy(() -> bound.write().tryAcquire(s(5))).isInstanceOf(IllegalStateException.class);
            assertThat(reading.isValid()).isTrue();
        }
        lock.write().acquire().close();
    }

    @Test
    void aReaderWhoHandedItsHoldToAnotherThreadMayWaitToWrite() throws Exception {
        try (LogEar log = new LogEar()) {
            AtomicReference<Hold> handed = new AtomicReference<>();
            Started<Hold> writer = startAndWaitUntilItWaits(() -> {
                handed.set(lock.read().acquire());
                assertThat(lock.write().tryAcquire()).isEmpty();
                return lock.write().acquire();
            });
            time.advance(s(4));
            assertThat(log.with("waits for 'a'"))
                    .singleElement()
                    .asString()
                    .contains("while it holds it itself", "unless another thread closes that hold", "close it before");
            handed.get().close();
            writer.result().close();
        }
    }

    @Test
    void theJavaViewWaitsForItsTimeWhereAReaderWantsToWrite() throws Exception {
        ReadWriteLock java = lock.asReadWriteLock();
        Started<Boolean> writer = start(() -> {
            java.readLock().lock();
            boolean written = java.writeLock().tryLock(3, TimeUnit.SECONDS);
            java.readLock().unlock();
            return written;
        });
        soon(writer::isWaiting);
        assertThat(theirs.read().tryAcquire())
                .as("it does not stand in the way")
                .hasValueSatisfying(Hold::close);
        time.advance(s(2.9));
        assertThat(writer.isOver()).isFalse();
        time.advance(s(0.2));
        assertThat(writer.result()).isFalse();
        lock.write().acquire().close();
    }

    @Test
    void anInterruptEndsThatWait() throws Exception {
        ReadWriteLock java = lock.asReadWriteLock();
        Started<Boolean> writer = start(() -> {
            java.readLock().lock();
            try {
                return java.writeLock().tryLock(3, TimeUnit.SECONDS);
            } finally {
                java.readLock().unlock();
            }
        });
        soon(writer::isWaiting);
        writer.thread().interrupt();
        assertThatThrownBy(writer::result).hasCauseInstanceOf(InterruptedException.class);
        lock.write().acquire().close();
    }

    @Test
    void aReadersTimedWaitToWriteEndsWhenItsClientCloses() throws Exception {
        ReadWriteLock java = lock.asReadWriteLock();
        Started<Boolean> writer = start(() -> {
            java.readLock().lock();
            return java.writeLock().tryLock(3, TimeUnit.SECONDS);
        });
        soon(writer::isWaiting);
        client.close();
        assertThatThrownBy(writer::result).hasCauseInstanceOf(ClientClosedException.class);
    }

    @Test
    void aReadersTimedWaitToWriteAcquiresAfterItsReadHoldIsLost() throws Exception {
        ReadWriteLock java = lock.asReadWriteLock();
        Started<Boolean> writer = start(() -> {
            java.readLock().lock();
            return java.writeLock().tryLock(30, TimeUnit.SECONDS);
        });
        soon(writer::isWaiting);
        Breaking.shown(rival, "a", true);
        advance(4, s(1));
        soon(writer::isOver);
        assertThat(writer.result()).isTrue();
    }

    @Test
    void aLostGrantIsLostToAllItsReaders() throws Exception {
        Hold first = lock.read().acquire();
        Hold second = lock.read().acquire();
        first.onLost(losses::add);
        second.onLost(losses::add);
        Breaking.shown(rival, "a", true);
        advance(4, s(1));
        soon(() -> losses.size() == 2);
        assertThatThrownBy(first::close).isInstanceOf(HoldLostException.class);
        assertThatThrownBy(second::close).isInstanceOf(HoldLostException.class);
    }

    @Test
    void oneReadersMaximumEndsNoOthersHold() throws Exception {
        DistributedLock brief =
                client.readWriteLock("a", lease(10).maxHold(s(20))).read();
        Hold hung = brief.acquire();
        Hold lasting = lock.read().acquire();
        assertThat(lasting.id()).isEqualTo(hung.id());
        advance(60, s(1));
        assertThat(lasting.isValid()).as("kept for the other reader").isTrue();
        assertThat(lock.read().tryAcquire()).hasValueSatisfying(other -> {
            assertThat(other.id()).as("nobody joins a grant that is to end").isNotEqualTo(hung.id());
            other.close();
        });
        lasting.close();
        advance(12, s(1));
        assertThat(hung.isValid()).isFalse();
        assertThatThrownBy(hung::close)
                .isInstanceOfSatisfying(
                        HoldLostException.class,
                        lost -> assertThat(lost.loss().cause()).isEqualTo(Loss.Cause.MAX_HOLD_REACHED));
    }

    @Test
    void aThreadThatReadsMayReadAgainEvenBehindAWriter() throws Exception {
        DistributedLock reading =
                client.readWriteLock("a", lease(10).reentrant(true)).read();
        Hold outer = reading.acquire();
        CompletableFuture<Hold> writer = theirs.write().acquireAsync();
        Hold inner = reading.acquire();
        assertThat(inner.token()).isEqualTo(outer.token());
        inner.close();
        assertThat(writer).isNotDone();
        outer.close();
        assertThat(writer).isDone();
        writer.join().close();
    }

    @Test
    void theJavaViewDowngradesAsTheJdkDoes() {
        ReadWriteLock java = lock.asReadWriteLock();
        java.writeLock().lock();
        java.readLock().lock();
        assertThat(theirs.read().tryAcquire()).isEmpty();
        java.writeLock().unlock();
        assertThat(theirs.read().tryAcquire()).hasValueSatisfying(Hold::close);
        assertThat(rival.lock("a").tryAcquire()).isEmpty();
        assertThat(java.writeLock().tryLock()).isFalse();
        assertThatThrownBy(() -> java.writeLock().lock()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> java.writeLock().unlock()).isInstanceOf(IllegalMonitorStateException.class);
        java.readLock().unlock();
        assertThatThrownBy(() -> java.readLock().unlock()).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void theJavaViewUnlocksReadersOfAWriterFirstAsWell() {
        ReadWriteLock java = lock.asReadWriteLock();
        java.writeLock().lock();
        java.readLock().lock();
        java.readLock().unlock();
        assertThat(theirs.read().tryAcquire()).as("still written").isEmpty();
        java.writeLock().unlock();
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }
}
