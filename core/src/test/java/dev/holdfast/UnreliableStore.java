package dev.holdfast;

import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.support.Asked;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A real store behind a bad line: requests or replies get lost, or are held back, as a test decides. */
final class UnreliableStore extends ForwardedStore {
    /** What the line does to a request. */
    enum Line {
        UP,
        /** The request never arrives. */
        REQUEST_LOST,
        /** The request is carried out, its answer never arrives. */
        REPLY_LOST
    }

    private final boolean extendable;
    volatile Line claims = Line.UP;
    volatile Line renewals = Line.UP;
    volatile Line releases = Line.UP;
    volatile Line extensions = Line.UP;
    volatile Line watches = Line.UP;
    /** Whether the store's messages that a lock is wanted are lost. */
    volatile boolean losesWanted;
    /** The same of those that a grant is in doubt. */
    volatile boolean losesSuspects;

    volatile @Nullable CompletableFuture<Void> holdRenewalReplies;
    volatile @Nullable CompletableFuture<Void> holdReleaseReplies;
    final AtomicInteger renewalRequests = new AtomicInteger();
    final AtomicInteger grantsRenewed = new AtomicInteger();
    final AtomicInteger claimRequests = new AtomicInteger();
    final AtomicInteger extendRequests = new AtomicInteger();
    final AtomicInteger releaseRequests = new AtomicInteger();
    final AtomicInteger watchRequests = new AtomicInteger();
    /** How many requests and replies the line has lost. */
    final AtomicInteger lost = new AtomicInteger();
    /** Whether requests are gathered until {@link #send}. */
    volatile boolean gathers;

    private final Queue<Runnable> gathered = new ConcurrentLinkedQueue<>();
    volatile @Nullable StoreListener listener;

    UnreliableStore(Store store) {
        this(store, true);
    }

    /** A store that gives no fresh numbers, unless it is extendable. */
    UnreliableStore(Store store, boolean extendable) {
        super(store);
        this.extendable = extendable;
    }

    /** Has the store send what it gathered. */
    void send() {
        for (Runnable task = gathered.poll(); task != null; task = gathered.poll()) {
            task.run();
        }
    }

    @Override
    public void beforeSending(String name, Runnable task) {
        if (gathers) {
            gathered.add(task);
        } else {
            task.run();
        }
    }

    private <T> CompletionStage<T> over(Line line, Supplier<CompletionStage<T>> request) {
        if (line == Line.UP) {
            return request.get();
        }
        lost.incrementAndGet();
        if (line == Line.REPLY_LOST) {
            request.get();
        }
        return CompletableFuture.failedFuture(new StoreUnavailableException("the line is down"));
    }

    @Override
    public String description() {
        return "unreliable " + real.description();
    }

    @Override
    public Capabilities capabilities() {
        Capabilities all = real.capabilities();
        return all.extendable(all.extendable() && extendable);
    }

    @Override
    public void listen(StoreListener engine) {
        listener = engine;
        real.listen(new StoreListener() {
            @Override
            public void lost(Grant grant) {
                engine.lost(grant);
            }

            @Override
            public void suspect(Grant grant) {
                if (!losesSuspects) {
                    engine.suspect(grant);
                }
            }

            @Override
            public void wanted(Grant grant) {
                if (!losesWanted) {
                    engine.wanted(grant);
                }
            }
        });
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        claimRequests.incrementAndGet();
        Line line = claims;
        Asked asked = line == Line.REQUEST_LOST ? null : Asked.of(real, claim);
        answer.follow(over(line, () -> Objects.requireNonNull(asked).answer()));
        return asked == null ? Pending.BRIEFLY : asked;
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        renewalRequests.incrementAndGet();
        grantsRenewed.addAndGet(grants.size());
        CompletionStage<Map<ClaimId, Renewal>> answer = over(renewals, () -> real.renew(grants));
        CompletableFuture<Void> held = holdRenewalReplies;
        return held == null ? answer : answer.thenCombine(held, (verdicts, released) -> verdicts);
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        extendRequests.incrementAndGet();
        return over(extensions, () -> real.extend(grant));
    }

    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        watchRequests.incrementAndGet();
        return over(watches, () -> real.watch(grant));
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        return over(releases, () -> real.downgrade(grant));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        releaseRequests.incrementAndGet();
        CompletableFuture<Void> held = holdReleaseReplies;
        CompletionStage<Boolean> answer = over(releases, () -> real.release(grant));
        return held == null ? answer : held.thenCompose(released -> answer);
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        return over(releases, () -> real.withdraw(claim));
    }
}
