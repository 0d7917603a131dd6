package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.memory.MemoryStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** The application's log and executor may fail: no lock, no waiter and no renewal suffers from that. */
class BrokenSurroundingsTest extends EngineCase {
    private static final HoldOptions FIXED = HoldOptions.defaults().autoRenew(false);

    @Test
    void aLogThatThrowsEndsNoRenewalOfAnotherHold() throws Exception {
        try (ThrowingLog log = new ThrowingLog();
                Hold other = client.lock("b").acquire()) {
            Hold lost = client.lock("a", FIXED.lease(s(1))).acquire();
            time.advance(s(2)); // its loss is logged
            advance(60, s(1));
            assertThat(log.thrown).hasPositiveValue();
            assertThat(lost.isValid()).isFalse();
            assertThat(other.isValid()).isTrue();
        }
    }

    @Test
    void aLogThatThrowsKeepsNeitherTheNextWaiterNorTheLoserWaiting() throws Exception {
        try (ThrowingLog log = new ThrowingLog()) {
            Hold lost = client.lock("a", FIXED.lease(s(1))).acquire();
            lost.onLost(losses::add);
            CompletableFuture<Hold> next = client.lock("a").acquireAsync();
            time.advance(s(2));
            assertThat(log.thrown).hasPositiveValue();
            assertThat(next).isDone();
            soon(() -> losses.size() == 1);
            next.join().close();
        }
    }

    @Test
    void aLogThatThrowsKeepsNoAwaitedCloseWaiting() throws Exception {
        try (ThrowingLog log = new ThrowingLog()) {
            Hold hold =
                    client.lock("a", HoldOptions.defaults().awaitRelease(true)).acquire();
            line.releases = new HostileStore.RequestLost();
            Started<Void> closer = start(() -> {
                hold.close();
                return null;
            });
            soon(closer::isOver);
            closer.result();
            assertThat(log.thrown).hasPositiveValue();
            line.passAll();
            time.advance(s(1)); // the release is sent again
        }
    }

    @Test
    void anExecutorThatThrowsKeepsNoFailureFromTheThreadThatWaitsBesides() throws Exception {
        LockClient broken = clientWith(task -> {
            throw new IllegalStateException("executor not started");
        });
        HostileStore.HoldRequest gate = new HostileStore.HoldRequest();
        line.claims = gate;
        CompletableFuture<Hold> async = broken.lock("a").acquireAsync();
        Started<Hold> waiter = startAndWaitUntilItWaits(() -> broken.lock("a").acquire());
        line.claims = HostileStore.PASS;
        gate.open.completeExceptionally(new StoreUnavailableException("down"));
        soon(waiter::isOver);
        assertThatThrownBy(waiter::result).hasCauseInstanceOf(StoreUnavailableException.class);
        soon(async::isCompletedExceptionally);
    }

    @Test
    void anExecutorThatThrowsIsNotTheTroubleOfWhoeverHandsOver() throws Exception {
        LockClient broken = clientWith(task -> {
            throw new IllegalStateException("executor not started");
        });
        Hold hold = broken.lock("a").acquire();
        CompletableFuture<Hold> next = broken.lock("a").acquireAsync();
        assertThatCode(hold::close).doesNotThrowAnyException();
        soon(next::isDone);
    }

    @Test
    void callbacksThatAFullExecutorRefusesDoNotCloseOnOneGrowingStack() throws Exception {
        LockClient full = LockClient.builder(new MemoryStore().open())
                .executor(task -> {
                    throw new RejectedExecutionException("queue full");
                })
                .build();
        Hold hold = full.lock("a").acquire();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            all.add(full.lock("a").acquireAsync().thenAccept(Hold::close));
        }
        hold.close();
        soon(() -> all.stream().allMatch(CompletableFuture::isDone));
        assertThat(all).noneMatch(CompletableFuture::isCompletedExceptionally);
    }

    @Test
    void aLogThatThrowsAnErrorEndsNoRenewalOfAnotherHold() throws Exception {
        try (ThrowingLog log = new ThrowingLog(() -> new NoClassDefFoundError("com/example/Appender"));
                Hold other = client.lock("b").acquire()) {
            Hold lost = client.lock("a", FIXED.lease(s(1))).acquire();
            lost.onLost(losses::add);
            time.advance(s(2)); // its loss is logged
            advance(60, s(1));
            assertThat(log.thrown).hasPositiveValue();
            soon(() -> losses.size() == 1);
            assertThat(other.isValid()).isTrue();
        }
    }

    @Test
    void aClientClosesAndReleasesThoughTheLogThrowsAnErrorAtEachLoss() throws Exception {
        try (ThrowingLog log = new ThrowingLog(() -> new NoClassDefFoundError("com/example/Appender"))) {
            LockClient mine = clientOn(memory.open(time), time);
            Hold first = mine.lock("a").acquire();
            Hold second = mine.lock("b").acquire();
            CompletableFuture<Hold> waiter = mine.lock("a").acquireAsync();
            Started<Void> closer = start(() -> {
                mine.close();
                return null;
            });
            soon(closer::isOver);
            closer.result();
            assertThat(log.thrown).hasPositiveValue();
            assertThat(waiter).isCompletedExceptionally();
            assertThat(first.isValid() || second.isValid()).isFalse();
            assertThat(rival.multiLock(List.of("a", "b")).tryAcquire()).hasValueSatisfying(MultiHold::close);
        }
    }

    private LockClient clientWith(Executor executor) {
        return LockClient.builder(line).time(time).executor(executor).build();
    }

    /** A handler of the application that fails at every warning. */
    private static final class ThrowingLog extends Handler implements AutoCloseable {
        private final Logger logger = Logger.getLogger("dev.holdfast"); // kept: loggers are only weakly known
        private final Supplier<Error> error;
        final AtomicInteger thrown = new AtomicInteger();

        ThrowingLog() {
            this(() -> null);
        }

        /** With an Error, where the supplier has one. */
        ThrowingLog(Supplier<Error> error) {
            this.error = error;
            logger.addHandler(this);
        }

        @Override
        public void publish(LogRecord line) {
            if (line.getLevel().intValue() >= Level.INFO.intValue()) {
                thrown.incrementAndGet();
                Error given = error.get();
                if (given != null) {
                    throw given;
                }
                throw new IllegalStateException("handler broken");
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            logger.removeHandler(this);
        }
    }
}
