package dev.holdfast.zookeeper;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.StoreListener;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The claims of this client under way, by their ids. All of them look now and then at those before them, in case a message
 * was lost; the timer for that runs while there are any. Thread-safe.
 */
final class Places {
    private static final Duration POLL = Duration.ofSeconds(15);

    private final Map<ClaimId, Place> all = new ConcurrentHashMap<>();
    private final AtomicBoolean ticking = new AtomicBoolean();
    private final Locks locks;
    private volatile @Nullable StoreListener listener;

    Places(Locks locks) {
        this.locks = locks;
    }

    void listen(StoreListener told) {
        listener = told;
    }

    Pending claim(Claim claim) {
        Standing standing = locks.standings().get(claim.id());
        if (standing != null && !standing.session().hasEnded()) {
            return new Again(again(standing));
        }
        Place place = new Place(claim, locks);
        Place same = all.putIfAbsent(claim.id(), place);
        if (same != null) {
            return same;
        }
        place.answer().whenComplete((grant, failure) -> {
            all.remove(claim.id(), place);
            if (failure != null) {
                place.giveUp();
            }
        });
        if (claim.waits()) {
            pollSometimes();
        } else {
            locks.timeouts().end(place.answer());
        }
        locks.exchanges().behindOthers(locks.paths().lock(claim.name()), place::begin);
        return place;
    }

    void withdraw(ClaimId id) {
        Place place = all.get(id);
        if (place != null) {
            place.cancel();
        }
    }

    void connected() {
        tell(StoreListener::reachable);
    }

    void suspended() {
        for (Place place : all.values()) {
            tell(told -> told.unreachable(
                    place.claim().name(),
                    locks.errors().of(Code.CONNECTIONLOSS, locks.paths().locks())));
        }
    }

    void ended(Session session) {
        all.values().forEach(place -> place.ended(session));
    }

    void failAll(RuntimeException why) {
        all.values().forEach(place -> place.answer().completeExceptionally(why));
    }

    /** A claim that stands is asked for again: its lease begins anew. */
    private CompletableFuture<Optional<Grant>> again(Standing standing) {
        CompletableFuture<Optional<Grant>> answer = new CompletableFuture<>();
        locks.timeouts().end(answer);
        Session session = standing.session();
        session.prove(locks.paths().locks());
        session.exists(standing.path()).thenAccept(found -> {
            if (found.code() == Code.OK) {
                answer.complete(Optional.of(anew(standing.grant(), session)));
            } else {
                answer.completeExceptionally(locks.errors().of(found.code(), standing.path()));
            }
        });
        return answer;
    }

    private static Grant anew(Grant granted, Session session) {
        return new Grant(
                granted.id(), granted.names(), granted.mode(), session.lease(), granted.numbers(), session.begin());
    }

    private void pollSometimes() {
        if (ticking.compareAndSet(false, true)) {
            long millis = POLL.toMillis() * ThreadLocalRandom.current().nextLong(75, 125) / 100;
            locks.time().schedule(this::poll, Duration.ofMillis(millis));
        }
    }

    private void poll() {
        ticking.set(false);
        all.values().forEach(Place::look);
        if (all.values().stream().anyMatch(place -> place.claim().waits())) {
            pollSometimes();
        }
    }

    private void tell(Consumer<StoreListener> what) {
        StoreListener told = listener;
        if (told != null) {
            what.accept(told);
        }
    }

    /** A claim that is granted already. */
    private record Again(CompletableFuture<Optional<Grant>> answer) implements Pending {
        @Override
        public void cancel() {}
    }
}
