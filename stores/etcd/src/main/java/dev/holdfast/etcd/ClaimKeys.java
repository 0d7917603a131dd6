package dev.holdfast.etcd;

import dev.holdfast.HoldfastException;
import dev.holdfast.etcd.Releases.Release;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Makes and removes the keys of claims, each by one transaction. Thread-safe. */
final class ClaimKeys {
    /** A claim joins only behind fewer than this: an answer of more than 4 MB is refused by gRPC. */
    static final int MOST_BEFORE = 12_000;

    private final Requests requests;
    private final Keys keys;
    private final Releases releases;
    /** The claims that may have a key and were not granted. */
    private final Map<ClaimId, Sent> sent = new ConcurrentHashMap<>();

    ClaimKeys(Requests requests, Keys keys, Releases releases) {
        this.requests = requests;
        this.keys = keys;
        this.releases = releases;
    }

    /** What was sent of a claim, last in a session. */
    private static final class Sent {
        final Session session;
        /** Which it demands. */
        final long epoch;

        final AtomicBoolean repeated = new AtomicBoolean();
        volatile boolean answered;

        Sent(Session session) {
            this.session = session;
            this.epoch = session.epoch();
        }

        /** Whether it was surely carried out, or never will be: one claim that raises the epoch makes void what others sent. */
        boolean isSettled() {
            return answered || session.epoch() > epoch;
        }
    }

    /**
     * A queue.
     *
     * @param revision of the store when it was so
     */
    record Read(List<QueuedClaim> queue, long revision) {}

    /** The queue of a name, keys alone, up to the claim of a revision; 0 for all. */
    CompletableFuture<Read> queue(String name, long upTo) {
        return requests.get(
                        keys.queue(name), allOf().withMaxCreateRevision(upTo).build())
                .thenApply(read -> new Read(
                        QueuedClaim.of(keys, read.getKvs()), read.getHeader().getRevision()));
    }

    private static GetOption.Builder allOf() {
        return GetOption.builder().isPrefix(true).withKeysOnly(true).withLimit(MOST_BEFORE + 1L);
    }

    /**
     * Makes the key of a claim, unless it is there, and reads the queue: all in one transaction, with what this task has
     * released before. Before that, an earlier one that was not answered is made void, lest it be carried out when the claim
     * has been released.
     *
     * @param wanted whether the claim is not answered yet: asked when its removal would find that it was sent
     */
    CompletableFuture<Read> enter(Claim claim, Session session, String text, BooleanSupplier wanted) {
        Sent earlier = sent.get(claim.id());
        if (earlier != null && !earlier.isSettled()) {
            return settle(earlier, List.of()).thenCompose(done -> enter(claim, session, text, wanted));
        }
        Release released = releases.take(claim.name());
        if (released == null) {
            return releases.behind(claim.name(), () -> make(claim, session, text, wanted, null));
        }
        try {
            return make(claim, session, text, wanted, released);
        } catch (Throwable notSent) {
            releases.sendAlone(released);
            throw notSent;
        }
    }

    private CompletableFuture<Read> make(
            Claim claim, Session session, String text, BooleanSupplier wanted, @Nullable Release released) {
        Sent now = new Sent(session);
        sent.put(claim.id(), now);
        if (!wanted.getAsBoolean()) {
            now.answered = true;
            releases.sendAlone(released);
            return CompletableFuture.failedFuture(requests.notSent());
        }
        ByteSequence key = keys.claim(claim.name(), claim.mode(), claim.id());
        ByteSequence epoch = keys.session(session.lease());
        Op queue = Op.get(keys.queue(claim.name()), allOf().build());
        List<Op> then = new ArrayList<>(List.of(Op.put(key, Keys.bytes(text), in(session)), queue));
        List<Op> otherwise = new ArrayList<>(List.of(queue, Op.get(epoch, GetOption.DEFAULT)));
        if (released != null) {
            then.add(0, releases.part(released));
            otherwise.add(0, releases.part(released));
        }
        return requests.txn(
                        List.of(
                                new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0)),
                                new Cmp(epoch, Cmp.Op.EQUAL, CmpTarget.version(now.epoch))),
                        then,
                        otherwise)
                .whenComplete((entered, failure) -> {
                    now.answered = failure == null || Errors.isAnswer(requests.why(failure));
                    if (released != null) {
                        releases.partEnded(released, entered, failure);
                    }
                })
                .thenApply(entered -> {
                    if (!entered.isSucceeded()) {
                        raise(session, entered, 1);
                    }
                    return new Read(
                            QueuedClaim.of(
                                    keys, entered.getGetResponses().get(0).getKvs()),
                            entered.getHeader().getRevision());
                });
    }

    /** A claim was granted: its key is now that of the grant. */
    void granted(ClaimId id) {
        sent.remove(id);
    }

    /** Removes a key if it is the one that was made by a revision. */
    CompletableFuture<Boolean> remove(ByteSequence key, long number) {
        return requests.txn(
                        List.of(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(number))),
                        List.of(Op.delete(key, DeleteOption.DEFAULT)),
                        List.of())
                .thenApply(TxnResponse::isSucceeded);
    }

    /**
     * Removes what a claim left, whether its request was carried out or still will be. Without an answer it is repeated in the
     * background: while its session lives, nothing else would remove the key.
     */
    CompletableFuture<Void> remove(Claim claim) {
        Sent left = sent.get(claim.id());
        if (left == null) {
            return CompletableFuture.completedFuture(null);
        }
        Op deletion = Op.delete(keys.claim(claim.name(), claim.mode(), claim.id()), DeleteOption.DEFAULT);
        CompletableFuture<Boolean> settled =
                left.isSettled() ? CompletableFuture.completedFuture(true) : settle(left, List.of(deletion));
        return settled.thenCompose(alone -> alone
                        ? requests.txn(List.of(), List.of(deletion), List.of()).thenApply(removed -> true)
                        : settled)
                .handle((removed, failure) -> {
                    if (failure == null) {
                        sent.remove(claim.id(), left);
                        return null;
                    }
                    HoldfastException why = requests.why(failure);
                    if (!Errors.isDefinite(why) && !requests.haveEnded() && left.repeated.compareAndSet(false, true)) {
                        repeatLater(claim, left);
                    }
                    throw why;
                });
    }

    private void repeatLater(Claim claim, Sent left) {
        try {
            requests.later(() -> again(claim, left));
        } catch (Throwable noTimer) { // the next who removes it has that repeated
            left.repeated.set(false);
            throw noTimer;
        }
    }

    private void again(Claim claim, Sent left) {
        left.repeated.set(false);
        if (sent.get(claim.id()) == left) { // else it is gone, or is claimed again
            Object unused = remove(claim);
        }
    }

    /**
     * Makes void what was sent of a claim and may be carried out late, and does more in the same transaction.
     *
     * @return whether only that could not be done, because the session has ended
     */
    private CompletableFuture<Boolean> settle(Sent left, List<Op> more) {
        Session session = left.session;
        ByteSequence epoch = keys.session(session.lease());
        List<Op> all = new ArrayList<>(more);
        all.add(Op.put(epoch, ByteSequence.EMPTY, in(session)));
        all.add(Op.get(epoch, GetOption.DEFAULT));
        return requests.txn(List.of(), all, List.of()).handle((settled, failure) -> {
            if (failure == null) {
                raise(session, settled, 0);
            } else if (Errors.unwrapped(failure) instanceof Errors.LeaseGoneException) {
                session.end();
            } else {
                throw requests.why(failure);
            }
            left.answered = true;
            return failure != null;
        });
    }

    /** The claims of a session that is over are gone. */
    void ended(Session session) {
        sent.values().removeIf(each -> each.session == session);
    }

    private static void raise(Session session, TxnResponse answer, int index) {
        GetResponse epoch = answer.getGetResponses().get(index);
        epoch.getKvs().forEach(kv -> session.raise(kv.getVersion()));
    }

    private static PutOption in(Session session) {
        return PutOption.builder().withLeaseId(session.lease()).build();
    }
}
