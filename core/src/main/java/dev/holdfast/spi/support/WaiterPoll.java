package dev.holdfast.spi.support;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * {@link Store#watch} for a store that sends no messages to holders. While grants are watched, it asks the store every
 * 20 ms whether claims wait for their names, for {@value #AT_A_TIME} grants in one query: with more grants, each is
 * polled less often. A grant that no longer exists is reported as {@linkplain StoreListener#suspect suspect}. A query
 * without an answer is repeated a second later. While no grant is watched, it sends no query. Thread-safe.
 */
public final class WaiterPoll {
    /** How many grants one query covers. */
    public static final int AT_A_TIME = 256;

    /** How long after an answer the next query follows. */
    public static final Duration INTERVAL = Duration.ofMillis(20);

    /** The same after a query without an answer. */
    private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);

    private final Function<List<Grant>, ? extends CompletionStage<Map<ClaimId, Boolean>>> question;
    private final BiConsumer<Duration, Runnable> later;
    private final Map<ClaimId, Grant> watched = new ConcurrentHashMap<>();
    private final Queue<Grant> inTurn = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean running = new AtomicBoolean();
    private volatile @Nullable StoreListener listener;
    private volatile boolean closed;

    /**
     * Nothing is watched yet.
     *
     * @param question answers with the grants that exist, and whether claims wait for them
     * @param later runs a short task once after a time; it may drop the task when the store closes
     */
    public WaiterPoll(
            Function<List<Grant>, ? extends CompletionStage<Map<ClaimId, Boolean>>> question,
            BiConsumer<Duration, Runnable> later) {
        this.question = question;
        this.later = later;
    }

    /** Names the listener that is notified when a watched grant is wanted or gone. */
    public void listen(StoreListener receiver) {
        listener = receiver;
    }

    /** Asks now, and from time to time until a claim waits or the grant ends; whether a claim waits already. */
    public CompletionStage<Boolean> watch(Grant grant) {
        return question.apply(List.of(grant)).thenApply(existing -> {
            Boolean contended = existing.get(grant.id());
            if (contended == null) {
                report(grant, null);
            }
            if (Boolean.FALSE.equals(contended) && !closed && watched.put(grant.id(), grant) != grant) {
                inTurn.add(grant);
                run(INTERVAL);
            }
            return Boolean.TRUE.equals(contended);
        });
    }

    /** The grant is about to end or to change, or has ended: from now on, answers about it no longer count. */
    public void forget(Grant grant) {
        watched.remove(grant.id());
    }

    /** Sends no more queries. */
    public void close() {
        closed = true;
        watched.clear();
    }

    private void run(Duration after) {
        if (running.compareAndSet(false, true)) {
            try {
                later.accept(after, this::ask);
            } catch (Throwable notPlanned) { // such as no thread left; the next grant to be watched tries again
                running.set(false);
                throw notPlanned;
            }
        }
    }

    private void ask() {
        List<Grant> next = new ArrayList<>(AT_A_TIME); // no Error of memory between a place and this
        for (Grant grant = inTurn.poll(); grant != null; grant = inTurn.poll()) {
            if (watched.get(grant.id()) == grant) {
                next.add(grant);
            }
            if (next.size() == AT_A_TIME) {
                break;
            }
        }
        if (next.isEmpty()) {
            pause(INTERVAL);
            return;
        }
        try {
            question.apply(List.copyOf(next)).whenComplete((existing, failure) -> answered(next, existing));
        } catch (Throwable failed) { // asked again, unless the store is closed
            answered(next, null);
        }
    }

    private void answered(List<Grant> asked, @Nullable Map<ClaimId, Boolean> existing) {
        if (existing != null) {
            try {
                read(asked, existing);
                return;
            } catch (Throwable broken) { // an Error, such as of memory: asked again, all of them
                inTurn.removeAll(asked);
            }
        }
        inTurn.addAll(asked);
        pause(AFTER_FAILURE);
    }

    private void read(List<Grant> asked, Map<ClaimId, Boolean> existing) {
        List<Grant> news = new ArrayList<>();
        for (Grant grant : asked) {
            boolean nothingNew = Boolean.FALSE.equals(existing.get(grant.id()));
            (nothingNew ? inTurn : news).add(grant);
        }
        pause(INTERVAL);
        news.forEach(grant -> {
            if (watched.remove(grant.id(), grant)) {
                // Apart: an exception of one report prevents no other.
                CompletableFuture.runAsync(() -> report(grant, existing.get(grant.id())), Runnable::run);
            }
        });
    }

    private void report(Grant grant, @Nullable Boolean contended) {
        StoreListener receiver = listener;
        if (receiver == null) {
            return;
        }
        if (contended == null) {
            receiver.suspect(grant);
        } else {
            receiver.wanted(grant);
        }
    }

    private void pause(Duration until) {
        running.set(false);
        if (!closed && !inTurn.isEmpty()) {
            run(until);
        }
    }
}
