package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Readers who share a grant share neither each other's end nor each other's news. */
class SharedGrantTest extends EngineCase {
    private final DistributedReadWriteLock lock = client.readWriteLock("a", lease(10));
    private final DistributedReadWriteLock theirs = rival.readWriteLock("a", lease(10));

    @Test
    void aLossFoundAtTheReleaseIsToldToWhoClosedLast() throws Exception {
        DistributedLock awaiting =
                client.readWriteLock("a", lease(10).awaitRelease(true)).read();
        List<Loss> toldOther = new CopyOnWriteArrayList<>();
        Hold first = awaiting.acquire();
        Hold second = lock.read().acquire();
        assertThat(second.id()).isEqualTo(first.id());
        first.onLost(losses::add);
        second.onLost(toldOther::add);
        second.close();
        Breaking.shown(rival, "a", true);
        assertThatThrownBy(first::close).isInstanceOf(HoldLostException.class);
        soon(() -> losses.size() == 1);
        assertThat(toldOther).as("closed while the grant stood").isEmpty();
    }

    @Test
    void oneReaderWhoShortensItsLeaseEndsNoOthersHold() throws Exception {
        DistributedLock fixed =
                client.readWriteLock("a", lease(30).autoRenew(false)).read();
        Hold first = fixed.acquire();
        Hold second = fixed.acquire();
        first.extend(s(1));
        time.advance(s(5));
        assertThat(second.isValid()).as("has 25 s left").isTrue();
        second.close();
        assertThatThrownBy(first::close).isInstanceOf(HoldLostException.class);
    }

    @Test
    void aLeakIsToldOfTheLeakedHoldAlone() throws Exception {
        List<LockEvent.Leaked> told = new CopyOnWriteArrayList<>();
        try (LockClient heard = LockClient.builder(memory.open(time))
                .time(time)
                .listener(new LockListener() {
                    @Override
                    public void onLeaked(LockEvent.Leaked event) {
                        told.add(event);
                    }
                })
                .build()) {
            DistributedLock reading = heard.readWriteLock("a", lease(10)).read();
            Hold kept = reading.acquire();
            WeakReference<Hold> leaked = new WeakReference<>(reading.acquire());
            soon(() -> {
                System.gc();
                time.advance(s(1));
                return leaked.get() == null && !told.isEmpty();
            });
            advance(10, s(1));
            kept.close();
            heard.lock("b").acquire().close();
            assertThat(told).hasSize(1);
        }
    }

    @Test
    void whoWaitsHasAGrantThatCameLate() {
        DistributedLock brief = client.readWriteLock("a", lease(3)).read();
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.claims = slow;
        CompletableFuture<Hold> reader = brief.acquireAsync();
        time.advance(s(2.5)); // valid, with less than a third of its lease left
        slow.open.complete(null);
        assertThat(reader).isDone();
        assertThat(line.claimed).as("claims sent").hasSize(1);
        assertThat(reader.join().isValid()).isTrue();
        reader.join().close();
    }

    @Test
    void thousandsOfReadersComeInOneAfterAnotherAndNotOneWithinAnother() {
        Hold writing = theirs.write().acquireAsync().join();
        List<CompletableFuture<Hold>> readers = IntStream.range(0, 30_000)
                .mapToObj(i -> lock.read().acquireAsync())
                .toList();
        writing.close();
        assertThat(readers.stream().filter(CompletableFuture::isDone).count())
                .as("readers let in")
                .isEqualTo(readers.size());
        readers.forEach(reader -> reader.join().close());
    }

    @Test
    void readersWhoWaitComeInWithAWriterWhoReadsAlsoWhereTheStoreLetsNobodyElseIn() {
        line.loosens = false;
        Hold hold = lock.write().acquireAsync().join();
        CompletableFuture<Hold> waiting = lock.read().acquireAsync();
        lock.downgrade(hold);
        assertThat(waiting).isDone();
        CompletableFuture<Hold> their = theirs.write().acquireAsync();
        hold.close();
        waiting.join().close();
        assertThat(their).as("nobody else waits in the store").isDone();
        their.join().close();
    }

    @Test
    void aThreadThatReadsTwiceAroundAWriterIsWarnedThatItWaitsForItself() throws Exception {
        try (LogEar log = new LogEar()) {
            Started<Hold> reader = start(() -> {
                Hold outer = lock.read().acquire();
                theirs.write().acquireAsync().thenAccept(Hold::close);
                Hold inner = client.readWriteLock("a", lease(10).strictFifo(true))
                        .read()
                        .acquire();
                try {
                    inner.close();
                } catch (HoldLostException broken) {
                    // it came in by the grant that is broken below, and this thread was slow to close it
                }
                return outer;
            });
            reader.untilItWaits();
            assertThat(log.lines).isEmpty();
            time.advance(s(4));
            assertThat(log.lines).singleElement().asString().contains("'a'", "while it holds it itself");
            Breaking.shown(rival, "a", true);
            advance(10, s(1));
            assertThatThrownBy(reader.result()::close).isInstanceOf(HoldLostException.class);
        }
    }

    @Test
    void whoIsCalledBackWhileAGrantGoesBackMayAskForTheLockAgain() throws Exception {
        assertComesBack(lock.read());
        assertComesBack(lock.write());
    }

    /** Where the next holder's callback runs on the thread that gives the grant back. */
    private void assertComesBack(DistributedLock ours) throws Exception {
        Hold hold = ours.acquireAsync().join();
        CompletableFuture<Hold> again = theirs.write().acquireAsync().thenCompose(their -> {
            CompletableFuture<Hold> next = ours.acquireAsync();
            their.close();
            return next;
        });
        Started<Void> closing = start(() -> {
            hold.close();
            return null;
        });
        soon(closing::isOver);
        again.join().close();
    }
}
