package dev.holdfast.internal;

import dev.holdfast.ClientClosedException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What a client knows of one {@linkplain dev.holdfast.spi.Store#part part} of the store: when it answered, and whether it is away. Most stores
 * have one part. Thread-safe; the outage is changed by one thread at a time.
 */
final class StorePart {
    /**
     * One outage.
     *
     * @param name the name whose request got no answer; another part may store it by now
     * @param reported whether the store itself reported that it cannot serve waiting claims. Such a store may still answer
     *     questions, for example a file to which another process writes without end
     */
    record Outage(String name, long since, Throwable why, boolean reported) {}

    private final StoreLink store;
    private final AtomicReference<@Nullable CompletableFuture<Void>> question = new AtomicReference<>();
    private volatile @Nullable Outage outage;
    private volatile long lastAnswer;

    /** @param lastAnswer when it counts as having answered for the last time */
    StorePart(StoreLink store, long lastAnswer) {
        this.store = store;
        this.lastAnswer = lastAnswer;
    }

    @Nullable
    Outage outage() {
        return outage;
    }

    void set(@Nullable Outage now) {
        outage = now;
    }

    /** Whether an outage is news: there is none yet, or the store reports one that only a request has shown so far. */
    boolean isNews(boolean reported) {
        Outage before = outage;
        return before == null || (reported && !before.reported);
    }

    boolean isAwaySince(long nanos) {
        Outage now = outage;
        return now != null && now.since - nanos <= 0;
    }

    void answered(long nanos) {
        lastAnswer = nanos;
    }

    /** Whether an answer came after that moment. */
    boolean hasAnsweredSince(long nanos) {
        return lastAnswer - nanos > 0;
    }

    /** Fails while the store reports that it cannot serve claims. */
    CompletableFuture<Void> failIfReported() {
        Outage now = outage;
        return now != null && now.reported
                ? CompletableFuture.failedFuture(Failures.cause(now.why))
                : CompletableFuture.completedFuture(null);
    }

    /** Asks about a name, unless a question is under way; fails if no answer comes. */
    CompletableFuture<Void> ask(String inStore) {
        CompletableFuture<Void> mine = new CompletableFuture<>();
        CompletableFuture<Void> underWay = question.compareAndExchange(null, mine);
        if (underWay != null) {
            return underWay;
        }
        try {
            store.status(inStore).whenComplete((status, failure) -> {
                question.set(null);
                if (failure != null
                        && (Failures.isUnavailable(failure)
                                || Failures.cause(failure) instanceof ClientClosedException)) {
                    mine.completeExceptionally(Failures.cause(failure));
                } else {
                    mine.complete(null);
                }
            });
        } catch (Throwable broken) { // an Error: the next one asks anew
            question.set(null);
            mine.completeExceptionally(broken);
        }
        return mine;
    }
}
