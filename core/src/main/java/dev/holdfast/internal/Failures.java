package dev.holdfast.internal;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Redacted;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** The failures of a store's threads, as a caller should see them on its own thread. */
final class Failures {
    private Failures() {}

    /** Waits for a store's answer, without heeding interrupts: a store answers or fails within its own time-out. */
    static <T> T await(CompletableFuture<T> answer, String doing) {
        try {
            return answer.join();
        } catch (CompletionException | CancellationException e) {
            throw here(e, doing);
        }
    }

    /** The failure itself, without the wrappers that a future adds. */
    static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** The failure, to be thrown again where no checked exception is declared. */
    static RuntimeException unchecked(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return (RuntimeException) thrown;
    }

    /** Whether the store could not be reached, or did not answer. */
    static boolean isUnavailable(Throwable failure) {
        return cause(failure) instanceof StoreUnavailableException;
    }

    /**
     * The failure with this thread's stack trace and the store's as its cause: one failure may be thrown by several
     * waiters.
     */
    static HoldfastException here(Throwable failure, String doing) {
        Throwable cause = cause(failure);
        if (!(cause instanceof HoldfastException)) { // its message may not even be readable
            String what = cause.getClass().getName() + ": " + Redacted.text(cause);
            return new HoldfastException(doing + ": the store failed in a way it should not: " + what, cause);
        }
        String message = String.valueOf(cause.getMessage());
        if (cause instanceof StoreUnavailableException) {
            return new StoreUnavailableException(doing + ": " + message, cause);
        }
        if (cause instanceof StoreRefusedException) {
            return new StoreRefusedException(doing + ": " + message, cause);
        }
        if (cause instanceof ClientClosedException) {
            return new ClientClosedException(message);
        }
        return new HoldfastException(doing + ": " + message, cause);
    }
}
