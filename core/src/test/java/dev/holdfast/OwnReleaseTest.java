package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A hold is closed, and the thread that is to send its release does not get to it: what is claimed next comes behind. */
class OwnReleaseTest extends EngineCase {
    private final Stall stall = new Stall();
    private final UnreliableStore gathering = new UnreliableStore(line);
    private final LockClient own = clientOn(gathering, time);
    private final DistributedReadWriteLock lock =
            own.readWriteLock("a", lease(10).handOver(0, s(0)));
    private final DistributedSemaphore one = own.semaphore("s", 1, lease(10).handOver(0, s(0)));

    @Test
    void aWriterComesBehindAWriter() throws Exception {
        assertComesBehind(lock.write().acquire(), lock.write()::tryAcquire);
    }

    @Test
    void aReaderComesBehindAWriter() throws Exception {
        assertComesBehind(lock.write().acquire(), lock.read()::tryAcquire);
    }

    @Test
    void aWriterComesBehindAReader() throws Exception {
        assertComesBehind(lock.read().acquire(), lock.write()::tryAcquire);
    }

    @Test
    void aPermitComesBehindAPermit() throws Exception {
        assertComesBehind(one.acquire(), one::tryAcquire);
    }

    private void assertComesBehind(Hold hold, Callable<Optional<Hold>> next) throws Exception {
        gathering.gathers = true;
        hold.close();
        line.releases = stall;
        Started<String> sending = start(() -> {
            gathering.send();
            return "sent";
        });
        stall.begun.await();
        Started<Optional<Hold>> trying = startAndWaitUntilItWaits(next);
        gathering.gathers = false;
        line.releases = HostileStore.PASS;
        stall.over.countDown();
        assertThat(sending.result()).isEqualTo("sent");
        assertThat(trying.result()).hasValueSatisfying(Hold::close);
        own.close();
    }

    /** Keeps the thread that makes a request, as a machine does that has no time for it. */
    private static final class Stall implements HostileStore.Gate {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch over = new CountDownLatch(1);

        @Override
        public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
            begun.countDown();
            try {
                over.await();
            } catch (InterruptedException e) {
                return CompletableFuture.failedFuture(e);
            }
            return request.get();
        }
    }
}
