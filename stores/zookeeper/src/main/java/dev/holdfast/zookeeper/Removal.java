package dev.holdfast.zookeeper;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A removal under way, and the callers that wait for its result. It is retried until the servers have answered, possibly
 * for hours. An answer that times out earlier is forgotten and uses no memory. Thread-safe.
 */
final class Removal {
    private final CompletableFuture<Boolean> removed;
    private final Set<CompletableFuture<Boolean>> answers = ConcurrentHashMap.newKeySet();

    Removal(CompletableFuture<Boolean> removed) {
        this.removed = removed;
        removed.whenComplete((there, failure) -> answers.forEach(this::pass));
    }

    boolean isOf(CompletableFuture<Boolean> removal) {
        return removed == removal;
    }

    boolean isDone() {
        return removed.isDone();
    }

    /** Its answer, for one caller, who may complete it earlier. */
    CompletableFuture<Boolean> answer() {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        answers.add(answer);
        answer.whenComplete((there, failure) -> answers.remove(answer));
        if (removed.isDone()) { // it may have ended before this answer was added
            pass(answer);
        }
        return answer;
    }

    /** How many answers wait. */
    int waiting() {
        return answers.size();
    }

    private void pass(CompletableFuture<Boolean> answer) {
        removed.whenComplete((there, failure) -> {
            if (failure == null) {
                answer.complete(there);
            } else {
                answer.completeExceptionally(failure);
            }
        });
    }
}
