package dev.holdfast.spi.support;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * The renewal of many grants by several requests, so that other requests can be sent between them.
 *
 * <pre>
 *   grants ──► chunk ──► request ──► answered ──────────► its renewals   ──┐
 *          ──► chunk ──► request ──► failed ────────────► all unknown    ──┴──► one answer
 *                                    all requests failed ─────────────────────► the failure
 * </pre>
 *
 * <p>The store decides how large a chunk is, and which grants go together. Thread-safe.
 */
public final class RenewalChunks {
    private RenewalChunks() {}

    /**
     * Grants that one request renews.
     *
     * @param grants at least one
     * @param answer by claim; a grant that it leaves out has no answer
     */
    public record Chunk(List<Grant> grants, CompletionStage<Map<ClaimId, Renewal>> answer) {}

    /** Renews grants, in their order and at most so many by one request. */
    public static CompletableFuture<Map<ClaimId, Renewal>> renew(
            Collection<Grant> grants,
            int size,
            Function<List<Grant>, ? extends CompletionStage<Map<ClaimId, Renewal>>> request) {
        return merged(split(grants, size).stream()
                .map(part -> new Chunk(part, request.apply(part)))
                .toList());
    }

    /** Parts of at most so many, in their order. */
    public static List<List<Grant>> split(Collection<Grant> grants, int size) {
        List<Grant> all = List.copyOf(grants);
        List<List<Grant>> parts = new ArrayList<>();
        for (int from = 0; from < all.size(); from += size) {
            parts.add(all.subList(from, Math.min(from + size, all.size())));
        }
        return parts;
    }

    /** The answers of all chunks as one, once all are answered or have failed. */
    public static CompletableFuture<Map<ClaimId, Renewal>> merged(List<Chunk> chunks) {
        List<CompletableFuture<Map<ClaimId, Renewal>>> answers =
                chunks.stream().map(chunk -> chunk.answer.toCompletableFuture()).toList();
        return CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new))
                .handle((done, failure) -> {
                    if (failure != null && answers.stream().allMatch(CompletableFuture::isCompletedExceptionally)) {
                        return answers.get(0).join(); // throws why
                    }
                    Map<ClaimId, Renewal> merged = new HashMap<>();
                    for (int i = 0; i < answers.size(); i++) {
                        if (answers.get(i).isCompletedExceptionally()) {
                            chunks.get(i)
                                    .grants
                                    .forEach(grant -> merged.put(grant.id(), Renewal.unknown(grant.sentNanos())));
                        } else {
                            merged.putAll(answers.get(i).join());
                        }
                    }
                    return merged;
                });
    }
}
