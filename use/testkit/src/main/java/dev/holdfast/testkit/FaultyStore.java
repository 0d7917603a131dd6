package dev.holdfast.testkit;

import dev.holdfast.Capabilities;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.StoredRecord;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One client's way to the store of a test, with the faults that the test asks for: it knows what the client was granted,
 * can take a grant away, and can be away itself.
 *
 * <p>While the store is away no request reaches it, and its clock goes on: leases run out. Claims that wait lose their
 * places, as when a connection breaks, and are made again in their order when the store is back. Thread-safe.
 */
final class FaultyStore implements Store {
    static final String AWAY = "the store of this test is away (TestLocks.storeAway)";

    /** A grant and the end of its lease. */
    private record Granted(Grant grant, long until) {}

    private final Store inner;
    private final ProcessClock clock;
    private final ReentrantLock mutex = new ReentrantLock();
    private final Set<WaitingClaim> waiting = new LinkedHashSet<>();
    private final Map<ClaimId, Granted> grants = new ConcurrentHashMap<>();
    private volatile @Nullable StoreListener listener;
    private boolean away;

    FaultyStore(Store inner, ProcessClock clock) {
        this.inner = inner;
        this.clock = clock;
    }

    // ---- what a test does ----

    /** The grants that stand in the store: neither released, nor broken, and their leases have not run out. */
    List<Grant> grants() {
        long now = clock.nanoTime();
        return grants.values().stream()
                .filter(granted -> granted.until - now > 0)
                .map(Granted::grant)
                .filter(this::isNotBroken)
                .toList();
    }

    /** Whether a claim of this client waits, in the store or for its return. */
    boolean hasWaitingClaim() {
        mutex.lock();
        try {
            return !waiting.isEmpty();
        } finally {
            mutex.unlock();
        }
    }

    /** A grant that stands beside others was not broken as far as this knows, nor was one whose client is closed. */
    private boolean isNotBroken(Grant grant) {
        CompletableFuture<LockStatus> status = inner.status(grant.name()).toCompletableFuture();
        return grant.mode().kind() != LockMode.EXCLUSIVE
                || status.isCompletedExceptionally()
                || status.join()
                        .grant()
                        .filter(held -> held.token() / TestLocks.TOKENS_PER_GRANT == grant.number())
                        .isPresent();
    }

    /** Ends a grant in the store, and reports that to the client. */
    void lose(Grant grant) {
        grants.remove(grant.id());
        report(client -> client.lost(grant));
        inner.breakGrant(grant.name(), grant.number(), true);
    }

    /** Takes the store away from this client. */
    void leave() {
        List<WaitingClaim> disconnected;
        mutex.lock();
        try {
            away = true;
            disconnected = List.copyOf(waiting);
        } finally {
            mutex.unlock();
        }
        disconnected.forEach(WaitingClaim::disconnect);
        disconnected.forEach(this::reportUnreachable);
    }

    /** Brings the store back. */
    void comeBack() {
        List<WaitingClaim> again;
        mutex.lock();
        try {
            if (!away) {
                return;
            }
            away = false;
            again = List.copyOf(waiting);
        } finally {
            mutex.unlock();
        }
        again.forEach(WaitingClaim::send);
        report(StoreListener::reachable);
    }

    private void reportUnreachable(WaitingClaim claim) {
        report(client -> client.unreachable(claim.claim.name(), new StoreUnavailableException(AWAY)));
    }

    private void report(Consumer<StoreListener> report) {
        StoreListener client = listener;
        if (client != null) {
            clock.whenRunning(() -> report.accept(client));
        }
    }

    // ---- what the client does ----

    @Override
    public String description() {
        return inner.description();
    }

    @Override
    public Capabilities capabilities() {
        return inner.capabilities();
    }

    @Override
    public String part(String name) {
        return inner.part(name);
    }

    @Override
    public void listen(StoreListener client) {
        listener = client;
        inner.listen(client);
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        WaitingClaim asked = new WaitingClaim(claim, answer, inner, this::answered);
        boolean reaches;
        mutex.lock();
        try {
            reaches = !away;
            if (reaches || claim.waits()) {
                waiting.add(asked);
            }
        } finally {
            mutex.unlock();
        }
        if (reaches) {
            asked.send();
        } else if (claim.waits()) {
            reportUnreachable(asked);
        } else {
            asked.complete(Optional.empty(), new StoreUnavailableException(AWAY));
        }
        return asked;
    }

    private void answered(WaitingClaim of, Optional<Grant> answer, @Nullable Throwable failure) {
        mutex.lock();
        try {
            waiting.remove(of);
        } finally {
            mutex.unlock();
        }
        answer.ifPresent(this::keep);
        clock.whenRunning(() -> of.complete(answer, failure));
    }

    private void keep(Grant grant) {
        grants.put(
                grant.id(), new Granted(grant, clock.nanoTime() + grant.lease().toNanos()));
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> asked) {
        return unlessAway(() -> inner.renew(asked)).thenApply(verdicts -> {
            for (Grant grant : asked) {
                Renewal verdict = verdicts.get(grant.id());
                if (verdict != null && verdict.verdict() == Renewal.Verdict.HELD) {
                    keep(grant);
                }
            }
            return verdicts;
        });
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return unlessAway(() -> inner.extend(grant)).thenApply(fresh -> {
            fresh.ifPresent(this::keep);
            return fresh;
        });
    }

    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        return unlessAway(() -> inner.watch(grant));
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        return unlessAway(() -> inner.downgrade(grant));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return unlessAway(() -> {
            grants.remove(grant.id());
            return inner.release(grant);
        });
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        return unlessAway(() -> {
            grants.remove(claim.id());
            return inner.withdraw(claim);
        });
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return unlessAway(() -> inner.status(name));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return unlessAway(() -> inner.list(prefix));
    }

    @Override
    public CompletionStage<Optional<List<LockWaiter>>> waiters(String prefix) {
        return unlessAway(() -> inner.waiters(prefix));
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return unlessAway(() -> inner.breakGrant(name, number, now));
    }

    @Override
    public CompletionStage<RecordReading> readRecord(String name) {
        return unlessAway(() -> inner.readRecord(name));
    }

    @Override
    public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return unlessAway(() -> inner.writeRecord(write));
    }

    @Override
    public CompletionStage<List<StoredRecord>> listRecords(String prefix) {
        return unlessAway(() -> inner.listRecords(prefix));
    }

    @Override
    public void close() {
        List<WaitingClaim> left;
        mutex.lock();
        try {
            left = new ArrayList<>(waiting);
            waiting.clear();
        } finally {
            mutex.unlock();
        }
        left.forEach(WaitingClaim::cancel);
        inner.close();
    }

    private <T> CompletionStage<T> unlessAway(Supplier<CompletionStage<T>> request) {
        boolean reaches;
        mutex.lock();
        try {
            reaches = !away;
        } finally {
            mutex.unlock();
        }
        return reaches ? request.get() : CompletableFuture.failedFuture(new StoreUnavailableException(AWAY));
    }
}
