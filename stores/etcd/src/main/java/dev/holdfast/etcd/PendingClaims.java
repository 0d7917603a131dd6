package dev.holdfast.etcd;

import dev.holdfast.HoldfastException;
import dev.holdfast.etcd.HeldClaims.Held;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.Pauses;
import dev.holdfast.spi.support.PlannedTask;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The claims of this client under way, by their ids. Each of them now and then reads those before it, in case an event was
 * lost; the timer for that runs while there are any. Thread-safe.
 */
final class PendingClaims {
    private static final Duration POLL = Duration.ofSeconds(15);

    private final Map<ClaimId, PendingClaim> all = new ConcurrentHashMap<>();
    private final PlannedTask poll;
    private final AtomicBoolean away = new AtomicBoolean();
    private final LateListener listener = new LateListener();
    private final EtcdContext context;
    private volatile @Nullable HoldfastException end;

    PendingClaims(EtcdContext context) {
        this.context = context;
        this.poll = new PlannedTask(context.time(), this::poll);
    }

    void listen(StoreListener receiver) {
        listener.set(receiver);
    }

    Pending claim(Claim claim, Answer answer) {
        PendingClaim place = new PendingClaim(claim, context, this);
        PendingClaim same = all.putIfAbsent(claim.id(), place);
        if (same != null) {
            same.repeated(answer);
            return same;
        }
        place.answer().whenComplete((grant, failure) -> {
            if (failure != null) {
                place.giveUp();
            }
            all.remove(claim.id(), place);
        });
        place.answer().whenComplete((grant, failure) -> place.tellRepeated());
        answer.follow(place.answer()); // told first, as what was added last runs first
        try {
            begin(place);
        } catch (Throwable notBegun) {
            place.answer().completeExceptionally(context.errors().of(notBegun));
        }
        return place;
    }

    private void begin(PendingClaim place) {
        HoldfastException why = end;
        if (why != null) {
            place.answer().completeExceptionally(why);
            return;
        }
        if (place.claim().waits()) {
            pollSometimes();
        } else {
            context.requests().limited(place.answer());
        }
        Held held = context.held().get(place.claim().id());
        if (held == null) {
            place.begin();
        } else {
            again(place, held);
        }
    }

    /** A claim that was granted is repeated: its lease begins again, if it still has one; else the claim is made again. */
    private void again(PendingClaim place, Held held) {
        Session session = held.session();
        Grant granted = held.grant();
        long asked = context.time().nanoTime();
        session.prove()
                .thenCompose(alive -> context.claimKeys()
                        .queue(granted.name(), granted.number())
                        .thenApply(read -> alive && context.held().isThere(held, read.queue())))
                .whenComplete((there, failure) -> {
                    if (failure != null) {
                        place.answer().completeExceptionally(Errors.unwrapped(failure));
                    } else if (there) {
                        place.answer()
                                .complete(Optional.of(new Grant(
                                        granted.id(),
                                        granted.name(),
                                        granted.mode(),
                                        session.ttl(),
                                        granted.number(),
                                        session.beginAt(asked))));
                    } else {
                        context.held().gone(held);
                        place.begin();
                    }
                });
    }

    /** Ends a claim, if it is under way. */
    void withdraw(ClaimId id) {
        PendingClaim place = all.get(id);
        if (place != null) {
            place.cancel();
        }
    }

    void ended(Session session) {
        all.values().forEach(place -> place.ended(session));
    }

    boolean need(Session session) {
        return all.values().stream().anyMatch(place -> place.session() == session);
    }

    /** Fails all claims, also those to come. */
    void failAll(HoldfastException why) {
        end = why;
        all.values().forEach(place -> place.answer().completeExceptionally(why));
    }

    void unreachable(PendingClaim place, HoldfastException why) {
        away.set(true);
        listener.unreachable(place.claim().name(), why);
    }

    void unreachable(HoldfastException why) {
        all.values().stream().filter(place -> place.claim().waits()).forEach(place -> unreachable(place, why));
    }

    /** A claim that waits has had an answer, or a session was proved. */
    void answered() {
        if (away.compareAndSet(true, false)) {
            listener.reachable();
        }
    }

    private void pollSometimes() {
        poll.within(Duration.ofNanos(Pauses.jittered(POLL.toNanos())));
    }

    private void poll() {
        if (all.values().stream().anyMatch(place -> place.claim().waits())) {
            pollSometimes();
        }
        all.values().forEach(PendingClaim::readAgain);
    }
}
