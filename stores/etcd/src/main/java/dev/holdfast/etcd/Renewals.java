package dev.holdfast.etcd;

import dev.holdfast.etcd.HeldClaims.Held;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.RenewalChunks;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.GetOption.SortOrder;
import io.etcd.jetcd.options.GetOption.SortTarget;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Renews grants: one proof for each of their {@linkplain Session sessions}, then one read for each {@value #AT_A_TIME} of
 * them, of their keys and of the claims behind them. Thread-safe.
 */
final class Renewals {
    /** A transaction may have 128 operations; a grant takes two. */
    private static final int AT_A_TIME = 60;
    /** Of readers and permits; one that waits behind more holders is seen when they are fewer. */
    private static final long MOST_OF_A_QUEUE = 1_000;

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
                proofs.computeIfAbsent(each.session(), Session::prove);
            }
        }
        return CompletableFuture.allOf(proofs.values().toArray(CompletableFuture<?>[]::new))
                .handle((proved, failure) -> isProvedBy(proofs))
                .thenCompose(
                        isProved -> RenewalChunks.renew(grants, AT_A_TIME, some -> read(some, held, isProved, asked)));
    }

    private static Predicate<Held> isProvedBy(Map<Session, CompletableFuture<Boolean>> proofs) {
        return held -> !Objects.requireNonNull(proofs.get(held.session())).isCompletedExceptionally();
    }

    private CompletableFuture<Map<ClaimId, Renewal>> read(
            List<Grant> grants, Map<ClaimId, Held> known, Predicate<Held> isProved, long asked) {
        List<Held> held = grants.stream()
                .map(grant -> known.get(grant.id()))
                .filter(Objects::nonNull)
                .toList();
        CompletableFuture<List<GetResponse>> reading =
                held.isEmpty() ? CompletableFuture.completedFuture(List.of()) : read(held);
        return reading.thenApply(read -> {
            Map<ClaimId, Renewal> verdicts = new LinkedHashMap<>();
            grants.forEach(grant -> verdicts.put(grant.id(), Renewal.lost(asked)));
            for (int i = 0; i < held.size(); i++) {
                Held each = held.get(i);
                Renewal verdict = verdict(each, asked, read.get(2 * i), read.get(2 * i + 1));
                verdicts.put(each.grant().id(), isProved.test(each) ? verdict : Renewal.unknown(asked));
            }
            return verdicts;
        });
    }

    private CompletableFuture<List<GetResponse>> read(List<Held> held) {
        List<Op> reads = new ArrayList<>();
        for (Held each : held) {
            Grant grant = each.grant();
            reads.add(Op.get(
                    context.keys().claim(grant.name(), grant.mode(), grant.id()),
                    GetOption.builder().withKeysOnly(true).build()));
            reads.add(Op.get(
                    context.keys().queue(grant.name()),
                    GetOption.builder()
                            .isPrefix(true)
                            .withKeysOnly(true)
                            .withSortField(SortTarget.CREATE)
                            .withSortOrder(SortOrder.ASCEND)
                            .withLimit(atMost(grant.mode()))
                            .build()));
        }
        return context.requests().read(reads).thenApply(TxnResponse::getGetResponses);
    }

    /** How much of a queue says whether a claim of another client waits for the name; of permits nobody asks that. */
    private static long atMost(Mode mode) {
        return mode instanceof Mode.Shared ? MOST_OF_A_QUEUE : mode instanceof Mode.Exclusive ? 2 : 1;
    }

    private Renewal verdict(Held held, long asked, GetResponse own, GetResponse queue) {
        return context.held().isThere(held, QueuedClaim.of(context.keys(), own.getKvs()))
                ? Renewal.held(
                        held.session().beginAt(asked),
                        QueuedClaim.isContended(QueuedClaim.of(context.keys(), queue.getKvs())))
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
            boolean contended = QueuedClaim.isContended(read.queue());
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
