package dev.holdfast.redis;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.PatientWait;
import dev.holdfast.spi.support.Pauses;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The waiting claims of this client, by their ids. They are woken by an offer, and when a lost subscription is back.
 * They also poll now and then, in case a message was lost or a waiter before them died.
 *
 * <p>How often a waiter polls depends on its rank in the queue: the first every second, the second every two, the tenth
 * and all behind it every ten. The first polls as well when the lease in its way should have ended, and the three next
 * when the first, whose claim does not fit, should have polled: each poll moves the whole queue on, so no other waiter
 * needs to. Thread-safe.
 */
final class PendingClaims implements OfferListener.Listener {
    /** How often the first in a queue polls when nothing happens. */
    static final Duration POLL = Duration.ofSeconds(1);

    private static final Duration HASTE = Duration.ofMillis(500);
    private static final int MOST_POLLS = 10;
    private static final Duration LEAVE_TIMEOUT = Duration.ofSeconds(1);

    final Scripts scripts;
    final TimeSource time;
    final Duration poll;
    final Offers offers;
    private final Map<ClaimId, PendingClaim> all = new ConcurrentHashMap<>();
    private final LateListener listener = new LateListener();
    private final Map<String, Grant> watched = new ConcurrentHashMap<>();

    /**
     * @param poll how often the first in a queue polls when nothing happens
     * @param subscriptions makes the subscriptions that report offers to a listener
     */
    PendingClaims(
            Scripts scripts, TimeSource time, Duration poll, Function<OfferListener.Listener, Offers> subscriptions) {
        this.scripts = scripts;
        this.time = time;
        this.poll = poll;
        this.offers = subscriptions.apply(this);
    }

    /** Notifies this listener when waiting claims cannot be served, and when they can again. */
    void listen(StoreListener engine) {
        listener.set(engine);
    }

    void unreachable(Claim claim, Throwable why) {
        listener.unreachable(claim.name(), why);
    }

    void reachable(Claim claim) {
        listener.reachable(claim.name());
    }

    /**
     * The connection for scripts is back. A replica greets as a primary does, so only the answer to a claim shows
     * whether claims are served.
     */
    void connected() {
        all.values().stream().findFirst().ifPresentOrElse(PendingClaim::ask, listener::reachable);
    }

    /**
     * The connection for scripts broke: claims that wait for an offer would notice that only at their next question.
     */
    void disconnected() {
        all.values().stream()
                .findFirst()
                .ifPresent(any -> unreachable(
                        any.claim(),
                        new StoreUnavailableException(
                                "the connection to " + scripts.errors().store() + " broke")));
    }

    Pending claim(Claim claim, Answer answer) {
        PendingClaim waiting = new PendingClaim(claim, answer, this);
        all.put(claim.id(), waiting);
        if (!scripts.isClosed()) { // else the closing thread may have missed it, and it would stay in the queue
            waiting.ask();
        }
        return waiting;
    }

    /** It is answered. */
    void forget(PendingClaim answered) {
        all.remove(answered.claim().id(), answered);
    }

    @Override
    public void offered(String claimId) {
        // Anybody may publish on the channel.
        PendingClaim waiting = ClaimId.isId(claimId) ? all.get(ClaimId.of(claimId)) : null;
        if (waiting != null) {
            waiting.ask();
        }
    }

    /**
     * Has the engine notified when other clients wait for a grant. A lost message is sent again at the next poll of the
     * first waiter.
     */
    CompletionStage<Boolean> watch(Grant grant) {
        watched.put(grant.id().value(), grant);
        return offers.subscribe(grant.name())
                .thenCompose(open -> scripts.watch(grant, RedisStore.CHANNELS + offers.channel()))
                .whenComplete((said, failure) -> {
                    boolean ended = said == null || said == Scripts.Watched.GONE;
                    // Not if it is watched under a fresh number by now. Not suspect if its release came before.
                    if (ended && watched.remove(grant.id().value(), grant) && said != null) {
                        listener.suspect(grant);
                    }
                })
                .thenApply(said -> said == Scripts.Watched.CONTENDED);
    }

    /** The grant has ended. */
    void unwatch(Grant grant) {
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
    public void subscribedAgain() {
        all.values().forEach(PendingClaim::hearsAgain);
        // At the servers that have the watched locks now. A missed message is repeated when the first waiter polls.
        watched.values().forEach(grant -> offers.subscribe(grant.name()));
    }

    /** Has the claims that wait for such locks ask again. */
    void ask(Predicate<String> lock) {
        all.values().stream()
                .filter(waiting -> lock.test(waiting.claim().name()))
                .forEach(PendingClaim::ask);
    }

    /** Gives up all places, so that no client waits for one that is gone; waits up to a second for the answers. */
    void leaveAll() {
        List<CompletableFuture<?>> left = new ArrayList<>();
        all.values().forEach(waiting -> left.add(waiting.leave()));
        // Without an answer other waiters pass over these places: no client receives the offer.
        PatientWait.within(CompletableFuture.allOf(left.toArray(CompletableFuture<?>[]::new)), LEAVE_TIMEOUT);
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

    /** The server has become a replica, or its name leads elsewhere now. */
    void reconnect() {
        offers.reconnect();
    }

    void closeSubscriptions(boolean shutDown) {
        offers.close(shutDown);
    }

    /**
     * When to poll. A waiter that cannot rely on messages, because its subscription is down or it missed an offer,
     * polls more often than an offer lasts.
     */
    Duration nextPoll(ClaimAnswer said, boolean reliesOnMessages) {
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
