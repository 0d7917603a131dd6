package dev.holdfast.etcd;

import dev.holdfast.etcd.HeldClaims.Held;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The ends of grants.
 *
 * <p>A release and the claim that follows it at once leave as one transaction: the servers then agree on, and force to disk,
 * one change less before the next waiter is notified. The release is carried out whether or not the claim can be. Only
 * requests that one task makes on its own thread are combined. Any other claim of the same name is sent when the releases
 * that were requested before it are answered: etcd does not promise to carry out requests in their order. Thread-safe.
 */
final class Releases {
    private static final Runnable NOTHING = () -> {};
    private static final ThreadLocal<Task> CURRENT = new ThreadLocal<>();

    private final Requests requests;
    private final Keys keys;
    /** Not answered yet, or not sent yet. */
    private final Map<ClaimId, Release> underWay = new ConcurrentHashMap<>();
    /** Those whose answer was lost: one that finds nothing afterwards may have been the second. */
    private final Map<ClaimId, Release> unanswered = new ConcurrentHashMap<>();

    Releases(Requests requests, Keys keys) {
        this.requests = requests;
        this.keys = keys;
    }

    /**
     * The end of a grant.
     *
     * @param held null if its number is not known here; then whatever its claim has is removed
     */
    record Release(Grant grant, @Nullable Held held, CompletableFuture<Boolean> answer) {}

    /** What runs on its thread, and what it has released and not sent yet. */
    private static final class Task {
        final Releases of;
        private @Nullable Release held;

        Task(Releases of) {
            this.of = of;
        }

        private @Nullable Release swap(@Nullable Release next) {
            Release before = held;
            held = next;
            return before;
        }
    }

    /** Runs a task. What it releases leaves together with the claim that it makes next, or at its end. */
    void during(Runnable running) {
        Task task = new Task(this);
        CURRENT.set(task);
        try {
            running.run();
        } finally {
            CURRENT.remove();
            sendAlone(task.swap(null));
        }
    }

    /** Ends a grant; true also if an earlier request did, which was not answered. */
    CompletableFuture<Boolean> release(Grant grant, @Nullable Held held) {
        Release release = new Release(grant, held, new CompletableFuture<>());
        Release same = underWay.putIfAbsent(grant.id(), release);
        if (same != null) {
            return same.answer;
        }
        Task task = task();
        sendAlone(task == null ? release : task.swap(release));
        return release.answer;
    }

    /** Ends a grant whose release has no answer, once more; null if there is none. */
    @Nullable
    CompletableFuture<Boolean> repeat(ClaimId id) {
        Release before = underWay.getOrDefault(id, unanswered.get(id));
        return before == null ? null : release(before.grant, before.held);
    }

    /** Takes what this task has released, for the transaction of a claim; null if the claim has others to wait for. */
    @Nullable
    Release take(String name) {
        Task task = task();
        Release release = task == null ? null : task.held;
        if (task == null || release == null) {
            return null;
        }
        if (underWay.values().stream().anyMatch(each -> each != release && isOf(each, name))) {
            sendAlone(task.swap(null));
            return null;
        }
        return task.swap(null);
    }

    /** Sends a request of a name when all releases of that name that were requested before are answered. */
    <T> CompletableFuture<T> behind(String name, Supplier<CompletableFuture<T>> request) {
        Task task = task();
        if (task != null) {
            sendAlone(task.swap(null));
        }
        CompletableFuture<?>[] before = underWay.values().stream()
                .filter(each -> isOf(each, name))
                .map(Release::answer)
                .toArray(CompletableFuture<?>[]::new);
        return before.length == 0
                ? request.get()
                : CompletableFuture.allOf(before)
                        .handle((done, failure) -> request.get())
                        .thenCompose(same -> same);
    }

    private @Nullable Task task() {
        Task now = CURRENT.get();
        return now != null && now.of == this ? now : null;
    }

    private static boolean isOf(Release release, String name) {
        return release.grant.name().equals(name);
    }

    /** One that cannot be sent has failed, with what was thrown: without an answer, all later claims of its name would wait. */
    void sendAlone(@Nullable Release release) {
        if (release != null) {
            CompletableFuture.completedFuture(release)
                    .thenCompose(
                            each -> requests.txn(ifs(each.grant, each.held), List.of(deletion(each.grant)), List.of()))
                    .thenApply(Releases::hasDeleted)
                    .whenComplete((removed, failure) -> ended(release, removed, failure));
        }
    }

    /** A release as the first part of a claim's transaction. */
    Op part(Release release) {
        return Op.txn(
                ifs(release.grant, release.held).toArray(Cmp[]::new), new Op[] {deletion(release.grant)}, new Op[0]);
    }

    /** That transaction was answered, or was not. */
    void partEnded(Release release, @Nullable TxnResponse claimed, @Nullable Throwable failure) {
        if (failure != null && Errors.isDefinite(requests.why(failure))) {
            sendAlone(release); // all of it was refused, for the claim's sake
        } else {
            ended(
                    release,
                    claimed != null && hasDeleted(claimed.getTxnResponses().get(0)),
                    failure);
        }
    }

    private void ended(Release release, @Nullable Boolean removed, @Nullable Throwable failure) {
        ClaimId id = release.grant.id();
        Held held = release.held;
        if (failure == null) {
            boolean before = unanswered.remove(id) != null;
            underWay.remove(id, release);
            release.answer.complete(before || Boolean.TRUE.equals(removed));
            return;
        }
        unanswered.put(id, release);
        underWay.remove(id, release);
        release.answer.completeExceptionally(requests.why(failure));
        if (held != null) {
            requests.later(() -> remove(held, NOTHING));
        }
    }

    /** Removes the key of a grant, and again until that is answered: while its session lives, nothing else would. */
    void remove(Held held, Runnable done) {
        if (held.session().hasEnded() || requests.haveEnded()) {
            done.run();
            return;
        }
        requests.txn(ifs(held.grant(), held), List.of(deletion(held.grant())), List.of())
                .whenComplete((removed, failure) -> {
                    if (failure == null || Errors.isDefinite(requests.why(failure))) {
                        done.run();
                    } else {
                        requests.later(() -> remove(held, done));
                    }
                });
    }

    /** A grant is known by its claim's id; where its number is known here, one that is carried out late ends no other. */
    private List<Cmp> ifs(Grant grant, @Nullable Held held) {
        return held == null
                ? List.of()
                : List.of(new Cmp(
                        key(grant),
                        Cmp.Op.EQUAL,
                        CmpTarget.createRevision(held.grant().number())));
    }

    private Op deletion(Grant grant) {
        return Op.delete(key(grant), DeleteOption.DEFAULT);
    }

    private ByteSequence key(Grant grant) {
        return keys.claim(grant.name(), grant.mode(), grant.id());
    }

    private static boolean hasDeleted(TxnResponse answer) {
        return answer.getDeleteResponses().stream().anyMatch(each -> each.getDeleted() > 0);
    }
}
