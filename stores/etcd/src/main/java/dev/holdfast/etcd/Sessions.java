package dev.holdfast.etcd;

import dev.holdfast.spi.support.ElapsedTime;
import dev.holdfast.spi.support.PatientWait;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The sessions of a client: one for each length of lease, in whole seconds. Thread-safe. */
final class Sessions {
    private final Map<Long, CompletableFuture<Session>> byLength = new ConcurrentHashMap<>();
    private final Requests requests;
    private final Keys keys;
    private final ElapsedTime time;
    private final Session.Owner owner;

    Sessions(Requests requests, Keys keys, ElapsedTime time, Session.Owner owner) {
        this.requests = requests;
        this.keys = keys;
        this.time = time;
        this.owner = owner;
    }

    /** The session for a lease, surely alive for half its length or more. The servers may make it longer. */
    CompletableFuture<Session> of(Duration lease) {
        long seconds = lease.plusSeconds(1).minusNanos(1).toSeconds();
        CompletableFuture<Session> opening = new CompletableFuture<>();
        CompletableFuture<Session> now =
                byLength.compute(seconds, (length, known) -> known == null || isOver(known) ? opening : known);
        if (now == opening) {
            try {
                open(seconds, opening);
            } catch (Throwable broken) { // else all that ask later would wait for it
                opening.completeExceptionally(broken);
            }
            return opening;
        }
        return now.thenCompose(session -> {
            session.use();
            return session.isFresh() ? now : session.prove().thenCompose(alive -> alive ? now : of(lease));
        });
    }

    private static boolean isOver(CompletableFuture<Session> known) {
        return known.isCompletedExceptionally()
                || known.isDone() && !known.join().isUsable();
    }

    private void open(long seconds, CompletableFuture<Session> opening) {
        ElapsedTime.Moment asked = time.now();
        requests.grantLease(seconds)
                .thenApply(granted -> {
                    Duration ttl = Duration.ofSeconds(granted.getTTL());
                    Session session = new Session(requests, keys, time, owner, granted.getID(), ttl, asked);
                    session.use();
                    return session;
                })
                .whenComplete((session, failure) -> {
                    if (failure == null) {
                        opening.complete(session);
                    } else {
                        opening.completeExceptionally(failure);
                    }
                });
    }

    /** Ends the leases, so that their keys go at once. An interrupt does not cut the wait short. */
    void close(Duration limit) {
        CompletableFuture<?>[] revoked = byLength.values().stream()
                .filter(known -> known.isDone() && !known.isCompletedExceptionally())
                .map(CompletableFuture::join)
                .filter(session -> !session.hasEnded())
                .map(session -> requests.revoke(session.lease()))
                .toArray(CompletableFuture<?>[]::new);
        PatientWait.within(CompletableFuture.allOf(revoked), limit);
    }
}
