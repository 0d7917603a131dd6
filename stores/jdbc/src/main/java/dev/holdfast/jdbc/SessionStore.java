package dev.holdfast.jdbc;

import dev.holdfast.Capabilities;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.UnsupportedByStoreException;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
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
 * <p>{@link SessionTurn} tells how a claim becomes a grant, {@link SessionConnection} how its end is learned. Thread-safe.
 */
final class SessionStore implements Store {
    static final Duration SESSION = Duration.ofSeconds(5);

    /** Each has a connection and a thread. */
    private static final int MOST_WAITING = 16;

    private static final int MOST_IDLE = 2;

    private final SessionOpener opener;
    private final Capabilities capabilities;
    private final SessionConnection first;
    private final AtomicInteger further = new AtomicInteger();
    private final Deque<SessionConnection> idle = new ConcurrentLinkedDeque<>();
    private final Set<SessionConnection> all = ConcurrentHashMap.newKeySet();
    private final Map<ClaimId, SessionConnection> grants = new ConcurrentHashMap<>();
    private final Map<ClaimId, SessionClaim> claims = new ConcurrentHashMap<>();
    private final LateListener listener = new LateListener();
    private final AtomicReference<@Nullable HoldfastException> closed = new AtomicReference<>();

    private SessionStore(SessionOpener opener) {
        this.opener = opener;
        List<String> caveats = new ArrayList<>(opener.sessions().caveats());
        caveats.add(
                "The server frees a lock as soon as the session ends; another client has it when the one that lost it"
                        + " believes in it no more, " + opener.session().toMillis() + " ms later at most.");
        caveats.add("A grant outlives its client by the session, not by the lease of the options.");
        caveats.add("More than " + MOST_WAITING + " waits of one client poll, and may be overtaken.");
        this.capabilities = Capabilities.least()
                .modes(Set.of(LockMode.EXCLUSIVE))
                .sessionBound(true)
                .pushes(true)
                .fair(true)
                .tokens(Capabilities.Tokens.AS_CLOCKS_AGREE)
                .caveats(caveats);
        this.first = connection("0");
    }

    /** Asks the server whether it answers, on the session that waits for nothing. */
    CompletableFuture<Boolean> look() {
        return first.ask("watch", "", locks -> locks.answers());
    }

    /** Opens the store, and one session. */
    static SessionStore open(SessionOpener opener) {
        SessionStore store = new SessionStore(opener);
        try {
            store.first.askPatiently("open the locks", "", locks -> true).join();
        } catch (CompletionException e) {
            store.close();
            throw SessionOpener.unwrapped(e);
        }
        return store;
    }

    private SessionConnection connection(String title) {
        SessionConnection made = new SessionConnection(opener, title, this::lost).start();
        all.add(made);
        return made;
    }

    SessionOpener opener() {
        return opener;
    }

    SessionConnection first() {
        return first;
    }

    // ---- sessions for claims that wait ----

    /** A session for one claim; null where there are enough. */
    @Nullable
    SessionConnection lend() {
        SessionConnection free = idle.poll();
        if (free != null) {
            return free;
        }
        int number = further.incrementAndGet();
        if (number > MOST_WAITING) {
            further.decrementAndGet();
            return null;
        }
        return connection(Integer.toString(number));
    }

    /**
     * Takes a session back.
     *
     * @param spoilt whether it may still be called off, or has failed
     */
    void giveBack(SessionConnection own, boolean spoilt) {
        if (spoilt || closed.get() != null || idle.size() >= MOST_IDLE) {
            further.decrementAndGet();
            all.remove(own);
            own.close(opener.closedException());
        } else {
            idle.add(own);
        }
    }

    void granted(SessionConnection from, Grant grant) {
        grants.put(grant.id(), from);
    }

    private void lost(Grant grant) {
        SessionConnection from = grants.remove(grant.id());
        if (from != null && from != first) {
            giveBack(from, true);
        }
        if (from != null) {
            listener.lost(grant);
        }
    }

    void unreachable(String name, Throwable why) {
        listener.unreachable(name, why);
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
    public void listen(StoreListener told) {
        listener.set(told);
    }

    @Override
    public Pending claim(Claim claim) {
        HoldfastException refused = refused(claim);
        if (refused != null) {
            return Pending.answered(CompletableFuture.failedFuture(refused));
        }
        SessionClaim pending = new SessionClaim(this, claim);
        SessionConnection has = grants.get(claim.id());
        if (has != null && has != first || !claim.waits()) {
            return Pending.answered(attempt(claim, has == null ? first : has));
        }
        claims.put(claim.id(), pending);
        pending.answer().whenComplete((grant, failure) -> claims.remove(claim.id(), pending));
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
        if (claim.names().size() > 1 || !(claim.mode() instanceof Mode.Exclusive)) {
            return new UnsupportedByStoreException("cannot claim '" + claim.name() + "' on " + description()
                    + ": locks of sessions are exclusive, and one at a time; use a store of leases");
        }
        return null;
    }

    private CompletionStage<Optional<Grant>> attempt(Claim claim, SessionConnection on) {
        return on.ask("claim", claim.name(), locks -> {
            Optional<Grant> grant = new SessionTurn(on, locks, claim, opener).attempt();
            grant.ifPresent(each -> granted(on, each));
            return grant;
        });
    }

    /** A claim whose answer never came is taken back, after whatever of it is still to be carried out. */
    void forget(Claim claim) {
        first.askPatiently("withdraw", claim.name(), locks -> first.release(locks, claim.id()))
                .thenAccept(released -> grants.remove(claim.id(), first));
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
        List<CompletableFuture<?>> parts = new ArrayList<>();
        bySession.forEach((from, ids) -> parts.add(renew(from, ids, answers)));
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new)).thenApply(done -> Map.copyOf(answers));
    }

    private CompletableFuture<?> renew(SessionConnection from, List<ClaimId> ids, Map<ClaimId, Renewal> answers) {
        long sent = opener.time().nanoTime();
        return from.ask("renew", "", locks -> from.renew(locks, ids, true)).handle((found, failure) -> {
            ids.forEach(id -> answers.put(
                    id, failure == null ? found.getOrDefault(id, Renewal.lost(sent)) : unanswered(id, sent)));
            return true;
        });
    }

    /** A session that broke has taken its grants with it. */
    private Renewal unanswered(ClaimId id, long sent) {
        return grants.containsKey(id) ? Renewal.unknown(sent) : Renewal.lost(sent);
    }

    /** Never: releasing and claiming anew is as cheap. */
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
        return from.ask("release", name, locks -> {
            boolean released = from.release(locks, id);
            if (grants.remove(id) != null && from != first) {
                giveBack(from, false);
            }
            return released;
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
            return first.ask("withdraw", claim.name(), locks -> true) // behind what may still be under way
                    .thenCompose(done -> release(claim.name(), claim.id()))
                    .thenAccept(released -> {});
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
        return first.ask("break", name, locks -> locks.breakGrant(name, number, now));
    }

    /** The sessions end, and with them all grants. */
    @Override
    public void close() {
        HoldfastException why = opener.closedException();
        if (!closed.compareAndSet(null, why)) {
            return;
        }
        claims.values().forEach(each -> each.end(why));
        List<SessionConnection> ending = List.copyOf(all);
        ending.forEach(each -> each.close(why));
        ending.forEach(SessionConnection::callOffUntilEnd);
        ending.forEach(SessionConnection::awaitEnd);
    }
}
