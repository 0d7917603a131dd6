package dev.holdfast.tck;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A store on a bad line: claims reach it and their answers do not come back; renewals do not even reach it. */
final class LossyStore extends ForwardingStore {
    /** The grants whose clients never learned of them. */
    final Queue<Grant> lostGrants = new ConcurrentLinkedQueue<>();

    private volatile boolean losing;

    LossyStore(Store inner) {
        super(inner);
    }

    /** From now on nothing is answered, or again everything. */
    void lose(boolean value) {
        losing = value;
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        if (!losing) {
            return super.claim(claim, answer);
        }
        Asked asked = Asked.of(inner, claim);
        answer.follow(asked.answer().thenCompose(given -> {
            given.ifPresent(lostGrants::add);
            return CompletableFuture.failedFuture(new StoreUnavailableException("the answer was lost on its way"));
        }));
        return asked;
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        if (!losing) {
            return super.renew(grants);
        }
        Map<ClaimId, Renewal> unknown = new HashMap<>();
        grants.forEach(grant -> unknown.put(grant.id(), Renewal.unknown(grant.sentNanos())));
        return CompletableFuture.completedFuture(unknown);
    }
}
