package dev.holdfast.sqlite;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Renews any number of grants, chunk by chunk. Each chunk is a request of its own, so that others get in between; sorted,
 * so that all clients touch the rows in the same order.
 */
final class ChunkedRenewals {
    private final CompletableFuture<Map<ClaimId, Renewal>> answer = new CompletableFuture<>();
    private final List<Chunk> chunks = new ArrayList<>();

    private ChunkedRenewals() {}

    static CompletableFuture<Map<ClaimId, Renewal>> ask(SqliteWorker worker, Collection<Grant> grants, int size) {
        List<Grant> sorted = new ArrayList<>(grants);
        sorted.sort(Comparator.comparing(Grant::name));
        ChunkedRenewals renewals = new ChunkedRenewals();
        for (int from = 0; from < sorted.size(); from += size) {
            List<Grant> part = sorted.subList(from, Math.min(from + size, sorted.size()));
            renewals.chunks.add(new Chunk(part, worker.ask(table -> table.renew(part))));
        }
        CompletableFuture<?>[] all = renewals.chunks.stream().map(Chunk::answer).toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(all).whenComplete((done, failure) -> renewals.merge());
        return renewals.answer;
    }

    /** A chunk without an answer is unknown; if there was no answer at all, the failure is the answer. */
    private void merge() {
        Map<ClaimId, Renewal> merged = new HashMap<>();
        boolean anyAnswer = chunks.isEmpty();
        for (Chunk chunk : chunks) {
            anyAnswer |= !chunk.answer.isCompletedExceptionally();
            chunk.answer.whenComplete((renewals, failure) -> {
                if (failure == null) {
                    merged.putAll(renewals);
                } else {
                    chunk.grants.forEach(grant -> merged.put(grant.id(), Renewal.unknown(grant.sentNanos())));
                }
            });
        }
        if (anyAnswer) {
            answer.complete(merged);
        } else {
            chunks.get(0).answer.whenComplete((renewals, failure) -> answer.completeExceptionally(failure));
        }
    }

    private record Chunk(List<Grant> grants, CompletableFuture<Map<ClaimId, Renewal>> answer) {}
}
