package dev.holdfast.jdbc;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The claims that are made on shared sessions: what is free is acquired there. A claim that comes again before it is
 * answered goes to the same session, and so does its withdrawal: a session carries out its requests in order. Thread-safe.
 */
final class SharedClaims {
    /** Each time that a claim is made is another one. */
    private static final class Attempt {
        private final SessionConnection session;

        Attempt(SessionConnection session) {
            this.session = session;
        }
    }

    private final SessionPool sessions;
    private final Map<ClaimId, SessionConnection> grants;
    private final Map<ClaimId, Attempt> attempts = new ConcurrentHashMap<>();

    /**
     * For the claims of one store.
     *
     * @param grants the sessions of the store's grants
     */
    SharedClaims(SessionPool sessions, Map<ClaimId, SessionConnection> grants) {
        this.sessions = sessions;
        this.grants = grants;
    }

    /** The shared session for a claim. */
    SessionConnection sessionFor(Claim claim) {
        SessionConnection before = sessionOf(claim.id());
        return before != null ? before : sessions.shared();
    }

    private @Nullable SessionConnection sessionOf(ClaimId id) {
        SessionConnection has = grants.get(id);
        if (has != null && sessions.isShared(has)) {
            return has;
        }
        Attempt attempt = attempts.get(id);
        return attempt == null ? null : attempt.session;
    }

    /** Makes a claim on a shared session; if no answer comes in time, the claim is taken back. */
    CompletableFuture<Optional<Grant>> make(
            Claim claim, SessionConnection on, SessionRequests.Work<Optional<Grant>> work) {
        Attempt attempt = new Attempt(on);
        attempts.put(claim.id(), attempt);
        return on.ask("claim", claim.name(), work).whenComplete((grant, failure) -> {
            if (failure == null) {
                attempts.remove(claim.id(), attempt);
            } else {
                takeBack(claim, attempt); // it may be carried out still
            }
        });
    }

    /** Takes a claim back, after whatever of it is still under way; false if it has nothing. */
    CompletableFuture<Boolean> takeBack(Claim claim) {
        SessionConnection session = sessionOf(claim.id());
        return session == null ? CompletableFuture.completedFuture(false) : takeBack(claim, new Attempt(session));
    }

    private CompletableFuture<Boolean> takeBack(Claim claim, Attempt attempt) {
        SessionConnection on = attempt.session;
        CompletableFuture<Boolean> carriedOut = on.askWithoutTimeout("withdraw", claim.name(), locks -> {
            boolean released = on.release(locks, claim.id());
            grants.remove(claim.id(), on);
            return released;
        });
        carriedOut.whenComplete((released, failure) -> attempts.remove(claim.id(), attempt));
        return on.limited("withdraw", claim.name(), carriedOut.copy());
    }
}
