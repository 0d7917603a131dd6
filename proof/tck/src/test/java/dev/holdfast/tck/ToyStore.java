package dev.holdfast.tck;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreListener;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * A store that says yes where the store in memory says no, and no where it says yes: all modes, three names, bound to
 * sessions; no order, no pushes, no extensions. So both branches of the contract are walked. Its answers come late and
 * out of order.
 */
final class ToyStore implements Store {
    private static final Capabilities CAPABILITIES =
            Capabilities.least().sessionBound(true).caveats("It is a toy.");
    private static final Duration POLL = Duration.ofMillis(3);

    private final ToyLocks locks;
    private final StoreContext context;
    private final Set<Waiting> waits = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closed = new AtomicBoolean();

    ToyStore(ToyLocks locks, StoreContext context) {
        this.locks = locks;
        this.context = context;
    }

    private final class Waiting implements Pending {
        final Claim claim;
        private final Answer answer;
        private final AtomicBoolean cancelled = new AtomicBoolean();

        Waiting(Claim claim, Answer answer) {
            this.claim = claim;
            this.answer = answer;
        }

        /** Tries, and again later, until it is granted, cancelled or the store closed. */
        void poll() {
            if (closed.get()) {
                end();
                return;
            }
            if (cancelled.get()) {
                locks.stopWaiting(claim.id());
                waits.remove(this);
                answer.refused();
                return;
            }
            Optional<Grant> grant =
                    locks.claim(claim, ToyStore.this, context.time().nanoTime());
            if (grant.isPresent() || !claim.waits()) {
                waits.remove(this);
                grant.ifPresentOrElse(answer::granted, answer::refused);
            } else {
                context.time().schedule(this::poll, POLL);
            }
        }

        void end() {
            locks.stopWaiting(claim.id());
            answer.failed(closedException());
        }

        @Override
        public void cancel() {
            cancelled.set(true);
        }
    }

    @Override
    public String description() {
        return "toy:";
    }

    @Override
    public Capabilities capabilities() {
        return CAPABILITIES;
    }

    @Override
    public void listen(StoreListener listener) {}

    @Override
    public Pending claim(Claim claim, Answer answer) {
        Waiting waiting = new Waiting(claim, answer);
        waits.add(waiting);
        context.time().schedule(waiting::poll, late());
        if (closed.get()) {
            waiting.end();
        }
        return waiting;
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        long sent = context.time().nanoTime();
        return later(() -> {
            Map<ClaimId, Renewal> answers = new HashMap<>();
            for (Grant grant : grants) {
                boolean wanted = locks.isWanted(grant.name());
                answers.put(grant.id(), locks.isHeldBy(grant.id()) ? Renewal.held(sent, wanted) : Renewal.lost(sent));
            }
            return answers;
        });
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return later(Optional::empty);
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return later(() -> locks.release(grant.id()));
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        return later(() -> {
                    waits.stream()
                            .filter(each -> each.claim.id().equals(claim.id()))
                            .forEach(Waiting::cancel);
                    locks.stopWaiting(claim.id());
                    return locks.release(claim.id());
                })
                .thenAccept(released -> {});
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return later(() -> locks.status(name));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return later(() -> locks.list(prefix));
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return later(() -> locks.breakGrant(name, number, now));
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            locks.leave(this);
            waits.forEach(Waiting::end);
        }
    }

    private <T> CompletionStage<T> later(Supplier<T> answer) {
        if (closed.get()) {
            return CompletableFuture.failedFuture(closedException());
        }
        CompletableFuture<T> future = new CompletableFuture<>();
        context.time().schedule(() -> future.complete(answer.get()), late());
        return future;
    }

    private static Duration late() {
        return Duration.ofNanos(ThreadLocalRandom.current().nextLong(200_000));
    }

    private static ClientClosedException closedException() {
        return new ClientClosedException("the client of toy: is closed");
    }
}
