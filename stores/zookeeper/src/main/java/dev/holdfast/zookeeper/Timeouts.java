package dev.holdfast.zookeeper;

import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.PlannedTask;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Ends requests that take too long. All have the same time, so they are due in the order they came, and one timer serves
 * them: it is set while there are any. Thread-safe.
 */
final class Timeouts {
    private final TimeSource time;
    private final Duration limit;
    private final Errors errors;
    private final Queue<Request> requests = new ConcurrentLinkedQueue<>();
    private final PlannedTask tick;
    private volatile @Nullable RuntimeException ended;

    private record Request(CompletableFuture<?> answer, long due) {
        /** Each is another, and is removed from a queue: what a record does by itself is slow until it is compiled. */
        @Override
        public boolean equals(@Nullable Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    Timeouts(TimeSource time, Duration limit, Errors errors) {
        this.time = time;
        this.limit = limit;
        this.errors = errors;
        this.tick = new PlannedTask(time, this::tick);
    }

    /** The same answer, or a failure when it does not come in time. */
    <T> CompletableFuture<T> limit(CompletableFuture<T> answer) {
        if (answer.isDone()) {
            return answer;
        }
        CompletableFuture<T> limited = answer.copy();
        end(limited);
        return limited;
    }

    /** Fails an answer that does not come in time, or at once after {@link #failAll}. */
    void end(CompletableFuture<?> answer) {
        forgetAnswered();
        requests.add(new Request(answer, time.nanoTime() + limit.toNanos()));
        RuntimeException why = ended;
        if (why != null) {
            failAll(why);
            return;
        }
        tick.within(limit);
    }

    /** Fails all requests, also those to come. */
    void failAll(RuntimeException why) {
        ended = why;
        for (Request each = requests.poll(); each != null; each = requests.poll()) {
            each.answer.completeExceptionally(why);
        }
    }

    private void forgetAnswered() {
        for (Request head = requests.peek(); head != null && head.answer.isDone(); head = requests.peek()) {
            requests.remove(head);
        }
    }

    private void tick() {
        long now = time.nanoTime();
        for (Request head = requests.peek(); head != null; head = requests.peek()) {
            if (!head.answer.isDone() && head.due - now > 0) {
                tick.within(Duration.ofNanos(head.due - now));
                return;
            }
            requests.remove(head);
            head.answer.completeExceptionally(errors.noAnswer());
        }
    }
}
