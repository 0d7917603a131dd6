package dev.holdfast.etcd;

import dev.holdfast.etcd.HeldClaims.Held;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.Queued;
import dev.holdfast.spi.support.RenewalChunks;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Renews grants: one proof for each of their {@linkplain Session sessions}, then one read for every few dozen grants, of
 * their keys and of the claims that wait behind them. Thread-safe.
 */
final class Renewals {
    /** A transaction may have 128 operations; a shared grant takes three, and no other more than two. */
    private static final int SHARED_AT_A_TIME = 42;

    private static final int OTHERS_AT_A_TIME = 63;

    private final EtcdContext context;

    Renewals(EtcdContext context) {
        this.context = context;
    }

    CompletableFuture<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        long asked = context.time().nanoTime();
        Map<ClaimId, Held> held = new HashMap<>();
        Map<Session, CompletableFuture<Boolean>> proofs = new HashMap<>();
        for (Grant grant : grants) {
            Held each = context.held().get(grant.id());
            if (each != null && each.grant().number() == grant.number()) {
                held.put(grant.id(), each);
                proofs.computeIfAbsent(each.session(), Session::proveForAll);
            }
        }
        return CompletableFuture.allOf(proofs.values().toArray(CompletableFuture<?>[]::new))
                .handle((proved, failure) -> isProvedBy(proofs))
                .thenCompose(isProved -> {
                    Map<Boolean, List<Grant>> shared = grants.stream()
                            .collect(Collectors.partitioningBy(grant -> grant.mode() instanceof Mode.Shared));
                    List<RenewalChunks.Chunk> chunks = new ArrayList<>();
                    shared.forEach((isShared, all) -> RenewalChunks.split(
                                    all, isShared ? SHARED_AT_A_TIME : OTHERS_AT_A_TIME)
                            .forEach(some ->
                                    chunks.add(new RenewalChunks.Chunk(some, read(some, held, isProved, asked)))));
                    return RenewalChunks.merged(chunks);
                });
    }

    private static Predicate<Held> isProvedBy(Map<Session, CompletableFuture<Boolean>> proofs) {
        return held -> !Objects.requireNonNull(proofs.get(held.session())).isCompletedExceptionally();
    }

    private CompletableFuture<Map<ClaimId, Renewal>> read(
            List<Grant> grants, Map<ClaimId, Held> known, Predicate<Held> isProved, long asked) {
        List<Held> held = grants.stream()
                .map(grant -> known.get(grant.id()))
                .filter(Objects::nonNull)
                .filter(isProved)
                .toList();
        CompletableFuture<List<List<QueuedClaim>>> reading =
                held.isEmpty() ? CompletableFuture.completedFuture(List.of()) : read(held);
        return reading.thenApply(read -> {
            Map<ClaimId, Renewal> verdicts = new LinkedHashMap<>();
            grants.forEach(grant -> verdicts.put(
                    grant.id(), known.containsKey(grant.id()) ? Renewal.unknown(asked) : Renewal.lost(asked)));
            for (int i = 0; i < held.size(); i++) {
                verdicts.put(held.get(i).grant().id(), verdict(held.get(i), asked, read.get(i)));
            }
            return verdicts;
        });
    }

    /** For each grant, its own claim and one of others that waits for it, as far as they are there. */
    private CompletableFuture<List<List<QueuedClaim>>> read(List<Held> held) {
        List<Op> all = new ArrayList<>();
        List<Integer> ends = new ArrayList<>();
        for (Held each : held) {
            all.addAll(reads(each.grant()));
            ends.add(all.size());
        }
        return context.requests().read(all).thenApply(answer -> {
            List<GetResponse> answers = answer.getGetResponses();
            List<List<QueuedClaim>> found = new ArrayList<>();
            int begin = 0;
            for (int end : ends) {
                List<KeyValue> keys = answers.subList(begin, end).stream()
                        .flatMap(one -> one.getKvs().stream())
                        .toList();
                found.add(QueuedClaim.of(context.keys(), keys));
                begin = end;
            }
            return found;
        });
    }

    /**
     * Each read stops at the first keys found: sorting by revision would make the servers sort a whole queue. While this
     * grant is held, any claim that excludes it must be waiting. For permits, nothing needs to know whether others wait.
     */
    private List<Op> reads(Grant grant) {
        Keys keys = context.keys();
        String name = grant.name();
        List<Op> reads = new ArrayList<>();
        reads.add(Op.get(
                keys.claim(name, grant.mode(), grant.id()),
                GetOption.builder().withKeysOnly(true).build()));
        if (grant.mode() instanceof Mode.Exclusive) {
            reads.add(first(2, keys.queue(name))); // one may be its own
        } else if (grant.mode() instanceof Mode.Shared) {
            reads.add(first(1, keys.exclusive(name)));
            reads.add(first(1, keys.permits(name)));
        }
        return reads;
    }

    private static Op first(long most, ByteSequence prefix) {
        return Op.get(
                prefix,
                GetOption.builder()
                        .isPrefix(true)
                        .withKeysOnly(true)
                        .withLimit(most)
                        .build());
    }

    private Renewal verdict(Held held, long asked, List<QueuedClaim> read) {
        return context.held().isThere(held, read)
                ? Renewal.held(
                        held.session().beginAt(asked),
                        read.stream()
                                .anyMatch(
                                        claim -> claim.number() != held.grant().number()))
                : Renewal.lost(context.time().nanoTime());
    }

    /** Whether a claim waits for the name of a grant; if none does, one that comes is reported. */
    CompletableFuture<Boolean> watch(Grant grant) {
        Held held = context.held().get(grant.id());
        return held == null ? CompletableFuture.completedFuture(false) : watch(held);
    }

    private CompletableFuture<Boolean> watch(Held held) {
        String name = held.grant().name();
        return context.claimKeys().queue(name, 0).thenApply(read -> {
            boolean there = context.held().isThere(held, read.queue());
            boolean contended = Queued.isContended(read.queue());
            if (there && !contended) {
                held.watchedBy(
                        context.requests().watchAll(context.keys().queue(name), read.revision() + 1, () -> seen(held)));
                if (!context.held().has(held)) {
                    held.watchedBy(() -> {});
                }
            }
            return contended;
        });
    }

    private void seen(Held held) {
        if (context.held().has(held)) {
            watch(held).whenComplete((contended, failure) -> again(held, contended, failure));
        }
    }

    private void again(Held held, @Nullable Boolean contended, @Nullable Throwable failure) {
        if (failure != null && !context.requests().haveEnded()) {
            context.time().schedule(() -> seen(held), context.requests().limit());
        } else if (Boolean.TRUE.equals(contended)) {
            context.held().wanted(held);
        }
    }
}
