package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.fail;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/**
 * How long the kit waits for what must come, and how it waits: never by sleeping where something can be awaited.
 *
 * @param most after this long it counts as never
 */
record Patience(Duration most) {
    private static final Duration POLL = Duration.ofMillis(2);

    /** For what takes several steps that each may take the whole patience. */
    Patience times(int steps) {
        return new Patience(most.multipliedBy(steps));
    }

    /** The answer of a request; a failure is thrown. */
    <T> T answer(CompletionStage<T> stage, String what) {
        return result(stage.toCompletableFuture(), what);
    }

    /** What a task of another thread came to; its failure is thrown. */
    <T> T result(Future<T> future, String what) {
        try {
            return future.get(most.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw rethrown(Objects.requireNonNullElse(e.getCause(), e));
        } catch (TimeoutException e) {
            return fail("no answer within " + most + " to: " + what, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while awaiting: " + what, e);
        }
    }

    /** The failure of a request that must not succeed, whether the store throws it or answers with it. */
    Throwable failure(Supplier<? extends CompletionStage<?>> request, String what) {
        Object answered;
        try {
            answered = answer(request.get(), what);
        } catch (AssertionError e) {
            throw e;
        } catch (Throwable e) {
            return e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
        }
        return fail(what + " succeeded, with " + answered);
    }

    /** Awaits that something is there. */
    <T> T untilPresent(String what, Callable<Optional<T>> supplier) {
        return await(what).until(supplier, Optional::isPresent).orElseThrow();
    }

    /** Awaits that a condition comes true. */
    void until(String what, Callable<Boolean> condition) {
        await(what).until(condition);
    }

    private ConditionFactory await(String what) {
        return Awaitility.await(what)
                .atMost(most)
                .pollDelay(Duration.ZERO)
                .pollInterval(POLL)
                .pollInSameThread();
    }

    /** Unchecked, with the stack trace it had. */
    private static RuntimeException rethrown(Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        return cause instanceof RuntimeException unchecked ? unchecked : new CompletionException(cause);
    }
}
