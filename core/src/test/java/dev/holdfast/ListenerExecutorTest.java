package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The application's executor for listeners fails: every loss is reported all the same, once and in order. */
class ListenerExecutorTest extends EngineCase {
    private static final HoldOptions FIXED = HoldOptions.defaults().autoRenew(false);

    private final AtomicInteger refusals = new AtomicInteger();

    @Test
    void aLossIsReportedThoughTheExecutorIsFullAtThatMoment() throws Exception {
        LockClient mine = clientWith(new Refusing(1, new RejectedExecutionException("full")));
        Hold hold = mine.lock("a", FIXED.lease(s(1))).acquire();
        hold.onLost(losses::add);
        time.advance(s(2));
        soon(() -> losses.size() == 1);
        assertThat(refusals).hasValue(1);
    }

    @Test
    void lossesAreReportedInOrderThoughTheExecutorAlwaysRefuses() throws Exception {
        LockClient mine = clientWith(new Refusing(Integer.MAX_VALUE, new RejectedExecutionException("closed")));
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            names.add("lock-" + i);
            mine.lock("lock-" + i, FIXED.lease(s(1 + i))).acquire().onLost(losses::add);
        }
        advance(110, s(1));
        soon(() -> losses.size() == 100);
        assertThat(losses).extracting(Loss::name).isEqualTo(names);
    }

    @Test
    void aLossIsReportedOnceThoughTheExecutorRunsTheTaskAndThenThrows() throws Exception {
        LockClient mine = clientWith(task -> {
            task.run();
            throw new OutOfMemoryError("unable to create native thread");
        });
        mine.lock("a", FIXED.lease(s(1))).acquire().onLost(losses::add);
        time.advance(s(2));
        assertThat(losses).hasSize(1);
        mine.lock("b", FIXED.lease(s(1))).acquire().onLost(losses::add);
        time.advance(s(2));
        assertThat(losses).extracting(Loss::name).containsExactly("a", "b");
    }

    @Test
    void theHolderHearsThatItsLockIsWantedThoughTheExecutorRefuses() throws Exception {
        LockClient mine = clientWith(new Refusing(Integer.MAX_VALUE, new RejectedExecutionException("full")));
        CompletableFuture<Void> wanted = new CompletableFuture<>();
        Hold hold = mine.lock("a").acquire();
        hold.onWanted(() -> wanted.complete(null));
        CompletableFuture<Hold> next = rival.lock("a").acquireAsync();
        soon(() -> {
            time.advance(s(0.1)); // the store is asked from time to time
            return wanted.isDone();
        });
        hold.close();
        soon(next::isDone);
    }

    private LockClient clientWith(Executor listeners) {
        return LockClient.builder(memory.open(time))
                .time(time)
                .executor(Runnable::run)
                .listenerExecutor(listeners)
                .build();
    }

    /** Refuses some tasks, then runs them. */
    private final class Refusing implements Executor {
        private final int times;
        private final RuntimeException refusal;

        Refusing(int times, RuntimeException refusal) {
            this.times = times;
            this.refusal = refusal;
        }

        @Override
        public void execute(Runnable task) {
            if (refusals.incrementAndGet() <= times) {
                throw refusal;
            }
            task.run();
        }
    }
}
