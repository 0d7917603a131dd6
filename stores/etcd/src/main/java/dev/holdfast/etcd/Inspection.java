package dev.holdfast.etcd;

import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import dev.holdfast.spi.support.PagedListing;
import dev.holdfast.spi.support.PagedListing.Page;
import dev.holdfast.spi.support.Queued;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.OptionsUtil;
import io.etcd.jetcd.options.PutOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/**
 * The state of locks, and their breaking. "Held for" counts from when the holder's claim was made, by the clocks of the
 * holder and of this machine: etcd tells no time. Thread-safe.
 */
final class Inspection {
    private static final int TOKENS_PER_NUMBER = 1024;

    private final EtcdContext context;

    Inspection(EtcdContext context) {
        this.context = context;
    }

    CompletableFuture<LockStatus> status(String name) {
        return queue(name).thenApply(queue -> status(name, queue));
    }

    private CompletableFuture<List<QueuedClaim>> queue(String name) {
        return context.requests()
                .get(
                        context.keys().queue(name),
                        GetOption.builder().isPrefix(true).build())
                .thenApply(read -> QueuedClaim.of(context.keys(), read.getKvs()));
    }

    CompletionStage<List<LockStatus>> list(String prefix) {
        return queues(prefix)
                .thenApply(queues -> queues.entrySet().stream()
                        .map(queue -> status(queue.getKey(), queue.getValue()))
                        .toList());
    }

    CompletionStage<List<LockWaiter>> waiters(String prefix) {
        return queues(prefix)
                .thenApply(queues -> queues.values().stream()
                        .flatMap(queue -> Queued.waiting(queue).stream())
                        .map(this::waiter)
                        .toList());
    }

    private LockWaiter waiter(QueuedClaim claim) {
        HolderText text = HolderText.read(claim.text());
        return new LockWaiter(claim.name(), text.holder(), claim.mode().kind(), since(text));
    }

    private LockStatus status(String name, List<QueuedClaim> queue) {
        if (queue.isEmpty()) {
            return LockStatus.free(name, 0);
        }
        QueuedClaim head = queue.get(0);
        HolderText text = HolderText.read(head.text());
        return new LockStatus(
                name,
                Optional.of(new LockStatus.Held(
                        head.mode().kind(),
                        head.number() * TOKENS_PER_NUMBER,
                        text.holder(),
                        since(text),
                        text.lease())),
                Queued.waiting(queue).size());
    }

    private Duration since(HolderText text) {
        return Duration.ofMillis(Math.max(0, context.time().wallMillis() - text.madeAt()));
    }

    /** The queues of all names that begin so, by name. */
    private CompletionStage<Map<String, List<QueuedClaim>>> queues(String prefix) {
        return keys(context, context.keys().locks(), prefix)
                .thenApply(found -> QueuedClaim.of(context.keys(), found).stream()
                        .collect(Collectors.groupingBy(QueuedClaim::name, TreeMap::new, Collectors.toList())));
    }

    /** All that is under a folder and begins so, in pages. */
    static CompletionStage<List<KeyValue>> keys(EtcdContext context, String folder, String prefix) {
        ByteSequence first = Keys.bytes(folder + prefix);
        ByteSequence end = OptionsUtil.prefixEndOf(first);
        return PagedListing.all(
                after -> context.requests()
                        .get(
                                after.isEmpty() ? first : Keys.bytes(after + Keys.END),
                                GetOption.builder()
                                        .withRange(end)
                                        .withLimit(PagedListing.PAGE)
                                        .build())
                        .thenApply(read -> Page.of(read.getKvs(), PagedListing.PAGE, Inspection::key)),
                Inspection::key);
    }

    private static String key(KeyValue kv) {
        return kv.getKey().toString(java.nio.charset.StandardCharsets.UTF_8);
    }

    /**
     * Breaks the grant of a number. With {@code now}, its key is deleted. Otherwise it is written again, so that it is never
     * renewed, and stays for one lease more; then this client deletes it, or it goes with the lease of its holder.
     */
    CompletableFuture<Boolean> breakGrant(String name, long number, boolean now) {
        return queue(name).thenCompose(queue -> {
            for (QueuedClaim holder : Queued.holders(queue)) {
                if (holder.number() == number) {
                    return now ? context.claimKeys().remove(holder.key(), number) : mark(holder);
                }
            }
            return CompletableFuture.completedFuture(false);
        });
    }

    private CompletableFuture<Boolean> mark(QueuedClaim holder) {
        return context.requests()
                .txn(
                        List.of(new Cmp(holder.key(), Cmp.Op.EQUAL, CmpTarget.createRevision(holder.number()))),
                        List.of(Op.put(
                                holder.key(),
                                Keys.bytes(holder.text()),
                                PutOption.builder().withLeaseId(holder.lease()).build())),
                        List.of())
                .handle((marked, failure) -> {
                    if (failure == null) {
                        return marked.isSucceeded();
                    }
                    if (Errors.unwrapped(failure) instanceof Errors.LeaseGoneException) {
                        return false; // it has just ended
                    }
                    throw context.errors().of(failure);
                })
                .thenApply(marked -> {
                    Duration lease = HolderText.read(holder.text()).lease();
                    if (marked && !lease.isZero()) { // if the lease is unknown, its holder may still rely on it
                        context.time().schedule(() -> context.claimKeys().remove(holder.key(), holder.number()), lease);
                    }
                    return marked;
                });
    }
}
