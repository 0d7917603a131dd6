package dev.holdfast.etcd;

import dev.holdfast.etcd.HeldClaims.Held;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Makes and removes the keys of claims, each by one transaction. Thread-safe. */
final class ClaimKeys {
    /** A claim joins only behind fewer than this: an answer of more than 4 MB is refused by gRPC. */
    static final int MOST_BEFORE = 12_000;

    private final Requests requests;
    private final Keys keys;
    private final Map<ClaimId, Session> unanswered = new ConcurrentHashMap<>();
    private final Set<ClaimId> unansweredReleases = ConcurrentHashMap.newKeySet();

    ClaimKeys(Requests requests, Keys keys) {
        this.requests = requests;
        this.keys = keys;
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

    /** Whether the key of a grant is there, unbroken and in its session. */
    CompletableFuture<Boolean> isThere(Grant grant, Session session) {
        return queue(grant.name(), grant.number())
                .thenApply(read -> read.queue().stream()
                        .anyMatch(each -> each.number() == grant.number()
                                && !each.isBroken()
                                && each.lease() == session.lease()));
    }

    private static GetOption.Builder allOf() {
        return GetOption.builder().isPrefix(true).withKeysOnly(true).withLimit(MOST_BEFORE + 1L);
    }

    /**
     * Makes the key of a claim, unless it is there, and reads the queue: all in one transaction. Before that, an earlier one
     * that was not answered is made void, lest it be carried out when the claim has been released.
     *
     * @param wanted whether the claim is not answered yet: asked when its removal would find that it was sent
     */
    CompletableFuture<Read> enter(Claim claim, Session session, String text, BooleanSupplier wanted) {
        Session earlier = unanswered.get(claim.id());
        if (earlier != null) {
            return settle(claim.id(), earlier, List.of()).thenCompose(done -> enter(claim, session, text, wanted));
        }
        unanswered.put(claim.id(), session);
        if (!wanted.getAsBoolean()) {
            unanswered.remove(claim.id(), session);
            return CompletableFuture.failedFuture(requests.notSent());
        }
        ByteSequence key = keys.claim(claim.name(), claim.mode(), claim.id());
        Op queue = Op.get(keys.queue(claim.name()), allOf().build());
        return requests.txn(
                        List.of(
                                new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0)),
                                new Cmp(
                                        keys.session(session.lease()),
                                        Cmp.Op.EQUAL,
                                        CmpTarget.version(session.epoch()))),
                        List.of(Op.put(key, Keys.bytes(text), in(session)), queue),
                        List.of(queue, Op.get(keys.session(session.lease()), GetOption.DEFAULT)))
                .whenComplete((entered, failure) -> {
                    if (failure == null || Errors.isDefinite(requests.why(failure))) {
                        unanswered.remove(claim.id(), session);
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

    /** Whether a claim may have been sent whose answer has not come. */
    boolean isUnanswered(ClaimId id) {
        return unanswered.containsKey(id);
    }

    /**
     * Ends a grant; true also if an earlier request did, which was not answered. A grant is known by its claim's id; where
     * its number is known here, a release that is carried out late ends no other grant of that claim.
     */
    CompletableFuture<Boolean> release(Grant grant, @Nullable Held held) {
        ClaimId id = grant.id();
        ByteSequence key = keys.claim(grant.name(), grant.mode(), id);
        CompletableFuture<Boolean> answer =
                held == null ? remove(key) : remove(key, held.grant().number());
        return answer.whenComplete((removed, failure) -> {
                    if (failure != null) {
                        unansweredReleases.add(id);
                        if (held != null) {
                            removeLater(key, held);
                        }
                    }
                })
                .thenApply(removed -> {
                    boolean before = unansweredReleases.remove(id);
                    return removed || before;
                });
    }

    /** A release without an answer is repeated in the background: while its session lives, nothing else would end the grant. */
    private void removeLater(ByteSequence key, Held held) {
        if (held.session().hasEnded() || requests.haveEnded()) {
            return;
        }
        requests.later(() -> remove(key, held.grant().number()).whenComplete((removed, failure) -> {
            if (failure != null && !Errors.isDefinite(requests.why(failure))) {
                removeLater(key, held);
            }
        }));
    }

    private CompletableFuture<Boolean> remove(ByteSequence key) {
        return requests.txn(List.of(), List.of(Op.delete(key, DeleteOption.DEFAULT)), List.of())
                .thenApply(removed -> removed.getDeleteResponses().get(0).getDeleted() > 0);
    }

    /** Removes a key if it is the one that was made by a revision. */
    CompletableFuture<Boolean> remove(ByteSequence key, long number) {
        return requests.txn(
                        List.of(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(number))),
                        List.of(Op.delete(key, DeleteOption.DEFAULT)),
                        List.of())
                .thenApply(TxnResponse::isSucceeded);
    }

    /** Removes what a claim left, whether its request was carried out or still will be. */
    CompletableFuture<Void> remove(Claim claim) {
        ByteSequence key = keys.claim(claim.name(), claim.mode(), claim.id());
        Session session = unanswered.get(claim.id());
        if (session == null) {
            return remove(key).thenAccept(removed -> {});
        }
        return settle(claim.id(), session, List.of(Op.delete(key, DeleteOption.DEFAULT)))
                .thenCompose(done -> session.hasEnded() ? remove(claim) : CompletableFuture.completedFuture(null));
    }

    /** Makes void what was sent of a claim and may be carried out late, and does more in the same transaction. */
    private CompletableFuture<Void> settle(ClaimId id, Session session, List<Op> more) {
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
            unanswered.remove(id, session);
            return null;
        });
    }

    /** The claims of a session that is over are gone. */
    void ended(Session session) {
        unanswered.values().removeIf(each -> each == session);
    }

    private static void raise(Session session, TxnResponse answer, int index) {
        GetResponse epoch = answer.getGetResponses().get(index);
        epoch.getKvs().forEach(kv -> session.raise(kv.getVersion()));
    }

    private static PutOption in(Session session) {
        return PutOption.builder().withLeaseId(session.lease()).build();
    }
}
