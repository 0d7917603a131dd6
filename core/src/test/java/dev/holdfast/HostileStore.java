package dev.holdfast;

import dev.holdfast.spi.*;
import dev.holdfast.spi.support.Asked;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.*;

/** A wrapper whose every request or reply can be held back, changed or made to throw. */
final class HostileStore extends ForwardedStore {
    interface Gate {
        <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request);
    }

    static final class Pass implements Gate {
        @Override
        public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
            return request.get();
        }
    }

    static final class HoldReply implements Gate {
        final CompletableFuture<Void> open = new CompletableFuture<>();
        final AtomicInteger held = new AtomicInteger();

        @Override
        public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
            CompletionStage<T> done = request.get();
            held.incrementAndGet();
            return open.thenCompose(x -> done);
        }
    }

    static final class HoldRequest implements Gate {
        final CompletableFuture<Void> open = new CompletableFuture<>();
        final AtomicInteger held = new AtomicInteger();

        @Override
        public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
            held.incrementAndGet();
            return open.thenCompose(x -> request.get());
        }
    }

    static final class ReplyLost implements Gate {
        @Override
        public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
            request.get();
            return CompletableFuture.failedFuture(new StoreUnavailableException("reply lost"));
        }
    }

    static final class RequestLost implements Gate {
        @Override
        public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
            return CompletableFuture.failedFuture(new StoreUnavailableException("request lost"));
        }
    }

    static final Gate PASS = new Pass();
    volatile Gate claims = PASS, renews = PASS, extends_ = PASS, downgrades = PASS, releases = PASS, withdraws = PASS;
    volatile Gate records = PASS, recordReads = PASS;
    volatile UnaryOperator<Capabilities> caps = c -> c;
    volatile UnaryOperator<Grant> grantMap = g -> g;
    volatile Supplier<String> describe = () -> "hostile";
    volatile Runnable onCancel = () -> {};
    volatile boolean loosens = true;
    volatile BiFunction<Claim, Answer, Pending> claimOverride;
    volatile StoreListener listener;
    final List<Grant> released = new CopyOnWriteArrayList<>();
    final List<Collection<Grant>> renewed = new CopyOnWriteArrayList<>();
    final List<Claim> claimed = new CopyOnWriteArrayList<>();

    HostileStore(Store real) {
        super(real);
    }

    /** From now on a store like any other. */
    void passAll() {
        claims = PASS;
        renews = PASS;
        extends_ = PASS;
        downgrades = PASS;
        releases = PASS;
        withdraws = PASS;
        records = PASS;
        recordReads = PASS;
        claimOverride = null;
        onCancel = () -> {};
    }

    static Capabilities with(Capabilities c, boolean session, boolean ordered, boolean extendable) {
        return c.sessionBound(session).ordered(ordered).extendable(extendable);
    }

    static Capabilities with(Capabilities c, Set<LockMode> modes) {
        return c.modes(modes);
    }

    @Override
    public String description() {
        return describe.get();
    }

    @Override
    public Capabilities capabilities() {
        return caps.apply(real.capabilities());
    }

    @Override
    public void listen(StoreListener l) {
        listener = l;
        real.listen(l);
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        claimed.add(claim);
        if (claimOverride != null) {
            return claimOverride.apply(claim, answer);
        }
        Asked[] asked = new Asked[1];
        answer.follow(claims.run(() -> {
                    asked[0] = Asked.of(real, claim);
                    return asked[0].answer();
                })
                .thenApply(given -> given.map(grantMap)));
        return () -> {
            onCancel.run();
            if (asked[0] != null) asked[0].cancel();
        };
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        renewed.add(grants);
        return renews.run(() -> real.renew(grants));
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return extends_.run(() -> real.extend(grant));
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        return downgrades.run(() -> loosens ? real.downgrade(grant) : CompletableFuture.completedFuture(false));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        released.add(grant);
        return releases.run(() -> real.release(grant));
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        return withdraws.run(() -> real.withdraw(claim));
    }

    @Override
    public CompletionStage<RecordReading> readRecord(String name) {
        return recordReads.run(() -> real.readRecord(name));
    }

    @Override
    public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return records.run(() -> real.writeRecord(write));
    }
}
