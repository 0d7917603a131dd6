package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The executor of the caller fails with an error: the future completes all the same, and once. */
class ExecutorErrorTest extends EngineCase {

    @Test
    void aFutureCompletesWhereTheExecutorCannotStartAThread() throws Exception {
        try (LockClient mine = clientWith(task -> {
            throw new OutOfMemoryError("unable to create native thread");
        })) {
            mine.lock("a").acquireAsync().get(30, TimeUnit.SECONDS).close();
            mine.multiLock(List.of("a", "b"))
                    .acquireAsync()
                    .get(30, TimeUnit.SECONDS)
                    .close();
        }
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void aWaitingFutureIsServedAndTheOneWhoClosesIsNotDisturbed() throws Exception {
        try (LockClient mine = clientWith(task -> {
            throw new OutOfMemoryError("unable to create native thread");
        })) {
            Hold first = mine.lock("a").acquire();
            CompletableFuture<Hold> next = mine.lock("a").acquireAsync();
            first.close();
            next.get(30, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void anExecutorThatRunsTheTaskAndThenThrowsTakesNothingBack() throws Exception {
        try (LockClient mine = clientWith(task -> {
            task.run();
            throw new StackOverflowError();
        })) {
            Hold hold = mine.lock("a").acquireAsync().get(30, TimeUnit.SECONDS);
            assertThat(rival.lock("a").tryAcquire()).isEmpty();
            assertThat(hold.isValid()).isTrue();
            hold.close();
        }
    }

    private LockClient clientWith(Executor executor) {
        return LockClient.builder(memory.open(time))
                .time(time)
                .executor(executor)
                .build();
    }
}
