package dev.holdfast.redis;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.Pauses;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The claims of this client that wait, by their ids, and how they are woken: by an offer, when the subscription was lost
 * and stands again, and by looking now and then, in case a message was lost or somebody before them died.
 *
 * <p>How often a waiter polls depends on its rank in the queue: the first every second, the second every two, the tenth
 * and all behind it every ten. The first polls as well when the lease in its way should have ended, and the three next when
 * the first, whose claim does not fit, should have polled: each poll moves the whole queue on, so that no more need to.
 * Thread-safe.
 */
final class PendingClaims implements OfferListener.Listener {
    /** How often the first in a queue polls when nothing happens. */
    static final Duration POLL = Duration.ofSeconds(1);

    private static final Duration HASTE = Duration.ofMillis(500);
    private static final int MOST_POLLS = 10;
    private static final Duration GOODBYE = Duration.ofSeconds(1);

    private final Map<String, PendingClaim> all = new ConcurrentHashMap<>();
    private final Scripts scripts;
    private final TimeSource time;
    private final Duration poll;
    private final Offers offers;
    private final LateListener listener = new LateListener();
    private final Map<String, Grant> watched = new ConcurrentHashMap<>();

    /**
     * @param poll how often the first in a queue polls when nothing happens
     * @param hearing makes what tells a listener of offers
     */
    PendingClaims(Scripts scripts, TimeSource time, Duration poll, Function<OfferListener.Listener, Offers> hearing) {
        this.scripts = scripts;
        this.time = time;
        this.poll = poll;
        this.offers = hearing.apply(this);
    }

    /** Names what is told when waiting claims cannot be served, and when they can again. */
    void tell(StoreListener told) {
        listener.set(told);
    }

    void unreachable(Claim claim, Throwable why) {
        listener.unreachable(claim.name(), why);
    }

    void reachable(Claim claim) {
        listener.reachable(claim.name());
    }

    /**
     * The connection for scripts stands again. A replica greets as a primary does; whether claims are served is what the
     * answer to one of them says.
     */
    void connected() {
        all.values().stream().findFirst().ifPresentOrElse(PendingClaim::ask, listener::reachable);
    }

    /** The connection for scripts broke: claims that wait for an offer would notice that only at their next question. */
    void disconnected() {
        all.values().stream()
                .findFirst()
                .ifPresent(any -> unreachable(
                        any.claim(),
                        new StoreUnavailableException(
                                "the connection to " + scripts.errors().store() + " broke")));
    }

    Pending claim(Claim claim) {
        PendingClaim waiting = new PendingClaim(claim, this);
        all.put(claim.id().value(), waiting);
        waiting.answer().whenComplete((grant, failure) -> all.remove(claim.id().value(), waiting));
        if (!scripts.isClosed()) { // else whoever closes may not have seen it, and it would stay in the queue
            waiting.ask();
        }
        return waiting;
    }

    @Override
    public void offered(String claimId) {
        PendingClaim waiting = all.get(claimId);
        if (waiting != null) {
            waiting.ask();
        }
    }

    /**
     * Has the engine told when others wait for a grant. A message that is lost is sent again at the next poll of the first
     * waiter.
     */
    CompletionStage<Boolean> watch(Grant grant) {
        watched.put(grant.id().value(), grant);
        return offers.open(grant.name())
                .thenCompose(open -> scripts.watch(grant, offers.channel()))
                .whenComplete((said, failure) -> {
                    boolean ended = said == null || said == Scripts.Watched.GONE;
                    // Not where it is watched under a fresh number by now. Nobody's, if its release came before.
                    if (ended && watched.remove(grant.id().value(), grant) && said != null) {
                        listener.suspect(grant);
                    }
                })
                .thenApply(said -> said == Scripts.Watched.CONTENDED);
    }

    /** The grant has ended. */
    void watchNoMore(Grant grant) {
        watched.remove(grant.id().value());
    }

    @Override
    public void wanted(String claimId) {
        Grant grant = watched.get(claimId);
        if (grant != null) {
            listener.wanted(grant);
        }
    }

    @Override
    public void broken(String claimId) {
        Grant grant = watched.remove(claimId);
        if (grant != null) {
            listener.suspect(grant);
        }
    }

    @Override
    public void hearingAgain() {
        all.values().forEach(PendingClaim::ask);
        // Where the locks of watched grants are now. What was missed comes again when the first waiter polls.
        watched.values().forEach(grant -> offers.open(grant.name()));
    }

    /** Asks for the claims that wait for such locks. */
    void ask(Predicate<String> lock) {
        all.values().stream()
                .filter(waiting -> lock.test(waiting.claim().name()))
                .forEach(PendingClaim::ask);
    }

    /** Gives up all places, so that nobody waits for a client that is gone; waits a moment for the server's word. */
    void leaveAll() {
        List<CompletableFuture<?>> left = new ArrayList<>();
        all.values().forEach(waiting -> left.add(waiting.leave()));
        try {
            CompletableFuture.allOf(left.toArray(CompletableFuture<?>[]::new))
                    .get(GOODBYE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            // Then others pass over them: nobody hears the offer.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Gives up a claim's place in the queue, and its grant or offer if it has one. */
    CompletableFuture<Void> leave(String name, ClaimId id, Mode mode) {
        return scripts.leave(name, id, mode, offers.channel());
    }

    /** Ends every wait. */
    void failAll(RuntimeException why) {
        all.values().forEach(waiting -> waiting.end(why));
    }

    /** The Lettuce client was shut down by its owner. */
    void shutDown(RuntimeException why) {
        failAll(why);
        offers.giveUp();
    }

    /** The server has become a replica. */
    void connectAnew() {
        offers.connectAnew();
    }

    void closeEar(boolean shutDown) {
        offers.close(shutDown);
    }

    Scripts scripts() {
        return scripts;
    }

    Offers offers() {
        return offers;
    }

    TimeSource time() {
        return time;
    }

    /** What a claim that has this place says when it asks; 0 if it has none. */
    Scripts.Place place(String lock, String at) {
        return new Scripts.Place(offers.channel(), at, poll, offers.hears(lock));
    }

    /**
     * When to poll. A waiter that cannot rely on messages, because its subscription is down or it missed an offer, polls
     * more often than an offer stands.
     */
    Duration nextLook(ClaimAnswer said, boolean reliesOnMessages) {
        Duration slow = reliesOnMessages ? poll.multipliedBy(Math.min(said.rank() + 1, MOST_POLLS)) : HASTE;
        Duration jittered = Duration.ofNanos(Pauses.jittered(slow.toNanos()));
        if (said.leftMillis() < 0) {
            return jittered;
        }
        Duration atEnd = Duration.ofMillis(
                said.leftMillis() + 1 + ThreadLocalRandom.current().nextLong(10));
        return atEnd.compareTo(jittered) < 0 ? atEnd : jittered;
    }
}
