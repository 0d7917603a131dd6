package dev.holdfast.jdbc;

import dev.holdfast.Capabilities;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.PagedListing;
import dev.holdfast.spi.support.UnknownEnd;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Locks that end with a session of the database: {@code pg_advisory_lock}, {@code GET_LOCK}.
 *
 * <pre>
 *   first session    whatever is free when it is asked for; tries, status, lists
 *   further ones     one claim each, which waits in the server's own queue, and the grant that it becomes
 * </pre>
 *
 * <p>{@link SessionTurn} describes how a claim becomes a grant, {@link SessionConnection} how its end is learned. Thread-safe.
 */
final class SessionStore implements Store {
    static final Duration SESSION = Duration.ofSeconds(5);

    private static final Duration SHORTEST_POLL = Duration.ofMillis(40);
    /** All claims that poll ask so often together. */
    private static final Duration POLL_OF_ALL = Duration.ofMillis(5);

    private final SessionOpener opener;
    private final Capabilities capabilities;
    private final SessionPool sessions;
    private final SessionConnection first;
    private final Map<ClaimId, SessionConnection> grants = new ConcurrentHashMap<>();
    private final Map<ClaimId, SessionClaim> claims = new ConcurrentHashMap<>();
    private final LateListener listener = new LateListener();
    private final AtomicReference<@Nullable HoldfastException> closed = new AtomicReference<>();

    private SessionStore(SessionOpener opener) {
        this.opener = opener;
        List<String> caveats = new ArrayList<>(opener.sessions().caveats());
        caveats.add(
                "The server frees a lock when its session ends. If the client wrote no release, another client acquires"
                        + " the lock " + opener.session().toMillis() + " ms after its first claim.");
        caveats.add("After a client died, its locks are free after the session, whatever lease the options set.");
        caveats.add("Beyond " + SessionPool.MOST_WAITING
                + " waits, a client polls, and other claims may overtake it for as long as some"
                + " are always in the queue.");
        caveats.add(
                "The locks are those of one server: a new primary does not have them, and a former one that is cut off"
                        + " but accepts writes confirms its own; check the token.");
        this.capabilities = Capabilities.least()
                .modes(Set.of(LockMode.EXCLUSIVE))
                .sessionBound(true)
                .pushes(true)
                .fair(true)
                .tokens(Capabilities.Tokens.AS_CLOCKS_AGREE)
                .caveats(caveats);
        this.sessions = new SessionPool(opener, this::lost, closed::get);
        this.first = sessions.first();
    }

    /** Asks the server whether it answers, on the session that waits for nothing. */
    CompletableFuture<Boolean> ping() {
        return first.ask("watch", "", locks -> locks.answers());
    }

    /** Opens the store, and one session. */
    static SessionStore open(SessionOpener opener) {
        SessionStore store = new SessionStore(opener);
        try {
            store.first.askWithoutTimeout("open the locks", "", locks -> true).join();
        } catch (CompletionException e) {
            store.close();
            throw SessionOpener.unwrapped(e);
        }
        return store;
    }

    SessionOpener opener() {
        return opener;
    }

    SessionPool sessions() {
        return sessions;
    }

    // ---- for claims that wait, and their sessions ----

    /** How long a claim for which there is no session pauses: all of them share the first one. */
    Duration pollPause() {
        Duration fair = POLL_OF_ALL.multipliedBy(claims.size());
        return fair.compareTo(SHORTEST_POLL) < 0 ? SHORTEST_POLL : fair;
    }

    /** On the session's own thread, before the session can end. */
    void granted(SessionConnection from, Grant grant) {
        grants.put(grant.id(), from);
    }

    private void lost(Grant grant) {
        SessionConnection from = grants.remove(grant.id());
        if (from != null && from != first) {
            sessions.returnSession(from, true);
        }
        if (from != null) {
            listener.lost(grant);
        }
    }

    void unreachable(String name, Throwable why) {
        listener.unreachable(name, why);
    }

    void reachable() {
        listener.reachable();
    }

    // ---- the store ----

    @Override
    public String description() {
        return opener.errors().store();
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    @Override
    public void listen(StoreListener engine) {
        listener.set(engine);
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        HoldfastException refused = refused(claim);
        if (refused != null) {
            answer.failed(refused);
            return Pending.BRIEFLY;
        }
        SessionClaim pending = new SessionClaim(this, claim);
        SessionConnection has = grants.get(claim.id());
        if (has != null && has != first || !claim.waits()) {
            answer.follow(attempt(claim, has == null ? first : has));
            return Pending.BRIEFLY;
        }
        claims.put(claim.id(), pending);
        answer.follow(pending.answer());
        pending.answer().whenComplete((grant, failure) -> claims.remove(claim.id(), pending)); // runs first
        pending.ask();
        HoldfastException why = closed.get();
        if (why != null) {
            pending.end(why); // the close may have looked before this claim came
        }
        return pending;
    }

    private @Nullable HoldfastException refused(Claim claim) {
        HoldfastException why = closed.get();
        if (why != null) {
            return why;
        }
        if (!(claim.mode() instanceof Mode.Exclusive)) {
            return new UnsupportedByStoreException("cannot claim '" + claim.name() + "' on " + description()
                    + ": mode=session has exclusive locks only; leave mode=session out of the URL");
        }
        return null;
    }

    private CompletionStage<Optional<Grant>> attempt(Claim claim, SessionConnection on) {
        return on.ask("claim", claim.name(), locks -> {
                    Optional<Grant> grant = new SessionTurn(on, locks, claim, opener).attempt();
                    grant.ifPresent(each -> granted(on, each));
                    return grant;
                })
                .whenComplete((grant, failure) -> {
                    if (failure != null && on == first) {
                        forget(claim);
                    }
                });
    }

    /** A claim whose answer never came is taken back, after whatever of it is still under way. */
    CompletableFuture<Boolean> forget(Claim claim) {
        return first.askSurely("withdraw", claim.name(), locks -> {
            try {
                return first.release(locks, claim.id());
            } finally {
                if (first.heldAs(claim.id()) == null) {
                    grants.remove(claim.id(), first);
                }
            }
        });
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> batch) {
        HoldfastException why = closed.get();
        if (why != null) {
            return CompletableFuture.failedFuture(why);
        }
        Map<SessionConnection, List<ClaimId>> bySession = new HashMap<>();
        Map<ClaimId, Renewal> answers = new ConcurrentHashMap<>();
        for (Grant each : batch) {
            SessionConnection from = grants.get(each.id());
            if (from == null) {
                answers.put(each.id(), Renewal.lost(opener.time().nanoTime()));
            } else {
                bySession.computeIfAbsent(from, key -> new ArrayList<>()).add(each.id());
            }
        }
        Duration limit = bySession.size() > 1 ? limitForSeveralSessions() : SessionOpener.ANSWER;
        List<CompletableFuture<?>> parts = new ArrayList<>();
        bySession.forEach((from, ids) -> parts.add(renew(from, ids, answers, limit)));
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new)).thenApply(done -> Map.copyOf(answers));
    }

    /**
     * All answers are given together. If one session is silent, those of the others must be given before their grants
     * end, and so must those of the next renewal.
     */
    private Duration limitForSeveralSessions() {
        Duration third = opener.session().dividedBy(3);
        return third.compareTo(SessionOpener.ANSWER) < 0 ? third : SessionOpener.ANSWER;
    }

    private CompletableFuture<?> renew(
            SessionConnection from, List<ClaimId> ids, Map<ClaimId, Renewal> answers, Duration limit) {
        long sent = opener.time().nanoTime();
        return from.askFirst(limit, "renew", "", locks -> from.renew(locks, ids, true))
                .handle((found, failure) -> {
                    ids.forEach(id -> answers.put(
                            id, failure == null ? found.getOrDefault(id, Renewal.lost(sent)) : unanswered(id, sent)));
                    return true;
                });
    }

    /** A session that broke has taken its grants with it. */
    private Renewal unanswered(ClaimId id, long sent) {
        return grants.containsKey(id) ? Renewal.unknown(sent) : Renewal.lost(sent);
    }

    /** Never: releasing and claiming again is as cheap. */
    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        HoldfastException why = closed.get();
        return why != null ? CompletableFuture.failedFuture(why) : CompletableFuture.completedFuture(Optional.empty());
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return release(grant.name(), grant.id());
    }

    private CompletableFuture<Boolean> release(String name, ClaimId id) {
        HoldfastException why = closed.get();
        if (why != null) {
            return CompletableFuture.failedFuture(why);
        }
        SessionConnection from = grants.get(id);
        if (from == null) {
            return CompletableFuture.completedFuture(false);
        }
        return from.askFirstSurely("release", name, locks -> {
            try {
                return from.release(locks, id);
            } finally {
                if (from.heldAs(id) == null && grants.remove(id) != null && from != first) {
                    sessions.returnSession(from, false);
                }
            }
        });
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        HoldfastException why = closed.get();
        if (why != null) {
            return CompletableFuture.failedFuture(why);
        }
        SessionClaim waiting = claims.get(claim.id());
        if (waiting == null) {
            SessionConnection has = grants.get(claim.id());
            CompletableFuture<Boolean> released =
                    has == null || has == first ? forget(claim) : release(claim.name(), claim.id());
            return released.thenAccept(done -> {});
        }
        waiting.cancel();
        return waiting.answer()
                .exceptionally(failure -> Optional.empty())
                .thenCompose(granted -> release(claim.name(), claim.id()))
                .thenAccept(released -> {});
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return first.ask(
                "look at",
                name,
                locks -> locks.read(name).map(SessionRow::status).orElse(LockStatus.free(name, 0)));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return PagedListing.all(
                after -> first.ask("list", prefix, locks -> locks.list(prefix, after)), LockStatus::name);
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        AtomicBoolean sent = new AtomicBoolean();
        return first.ask("break", name, locks -> {
            boolean mayBeDone = sent.getAndSet(true);
            boolean stood = locks.breakGrant(name, number, now);
            if (!stood && mayBeDone) {
                throw UnknownEnd.of(name, description(), "broken");
            }
            return stood;
        });
    }

    /** The sessions end, and with them all grants. */
    @Override
    public void close() {
        HoldfastException why = opener.closedException();
        if (!closed.compareAndSet(null, why)) {
            return;
        }
        claims.values().forEach(each -> each.end(why));
        sessions.close(why);
    }
}
