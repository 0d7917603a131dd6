package dev.holdfast;

import dev.holdfast.spi.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.*;

/** A wrapper whose every request or reply can be held back, changed or made to throw. */
final class HostileStore implements Store {
    interface Gate {
        <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request);
    }

    static final class Pass implements Gate {
        public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
            return request.get();
        }
    }

    static final class HoldReply implements Gate {
        final CompletableFuture<Void> open = new CompletableFuture<>();
        volatile int held;

        public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
            CompletionStage<T> done = request.get();
            held++;
            return open.thenCompose(x -> done);
        }
    }

    static final class HoldRequest implements Gate {
        final CompletableFuture<Void> open = new CompletableFuture<>();
        volatile int held;

        public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
            held++;
            return open.thenCompose(x -> request.get());
        }
    }

    static final class ReplyLost implements Gate {
        public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
            request.get();
            return CompletableFuture.failedFuture(new StoreUnavailableException("reply lost"));
        }
    }

    static final class RequestLost implements Gate {
        public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
            return CompletableFuture.failedFuture(new StoreUnavailableException("request lost"));
        }
    }

    static final Gate PASS = new Pass();
    final Store real;
    volatile Gate claims = PASS, renews = PASS, extends_ = PASS, releases = PASS, withdraws = PASS;
    volatile UnaryOperator<Capabilities> caps = c -> c;
    volatile UnaryOperator<Grant> grantMap = g -> g;
    volatile Supplier<String> describe = () -> "hostile";
    volatile Runnable onCancel = () -> {};
    volatile Function<Claim, Pending> claimOverride;
    volatile StoreListener listener;
    final List<Grant> released = new CopyOnWriteArrayList<>();
    final List<Collection<Grant>> renewed = new CopyOnWriteArrayList<>();
    final List<Claim> claimed = new CopyOnWriteArrayList<>();

    HostileStore(Store real) {
        this.real = real;
    }

    static Capabilities with(Capabilities c, boolean session, boolean ordered, boolean extendable) {
        return new Capabilities(
                c.modes(), c.maxNames(), session, c.pushes(), c.fair(), ordered, extendable, c.tokens(), c.caveats());
    }

    public String description() {
        return describe.get();
    }

    public Capabilities capabilities() {
        return caps.apply(real.capabilities());
    }

    public void listen(StoreListener l) {
        listener = l;
        real.listen(l);
    }

    public Pending claim(Claim claim) {
        claimed.add(claim);
        if (claimOverride != null) {
            return claimOverride.apply(claim);
        }
        Pending[] p = new Pending[1];
        CompletionStage<Optional<Grant>> answer = claims.run(() -> {
            p[0] = real.claim(claim);
            return p[0].answer();
        });
        CompletionStage<Optional<Grant>> mapped = answer.thenApply(o -> o.map(grantMap));
        return new Pending() {
            public CompletionStage<Optional<Grant>> answer() {
                return mapped;
            }

            public void cancel() {
                onCancel.run();
                if (p[0] != null) p[0].cancel();
            }
        };
    }

    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        renewed.add(grants);
        return renews.run(() -> real.renew(grants));
    }

    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return extends_.run(() -> real.extend(grant));
    }

    public CompletionStage<Boolean> release(Grant grant) {
        released.add(grant);
        return releases.run(() -> real.release(grant));
    }

    public CompletionStage<Void> withdraw(Claim claim) {
        return withdraws.run(() -> real.withdraw(claim));
    }

    public CompletionStage<LockStatus> status(String name) {
        return real.status(name);
    }

    public CompletionStage<List<LockStatus>> list(String prefix) {
        return real.list(prefix);
    }

    public CompletionStage<Boolean> revoke(String name, boolean now) {
        return real.revoke(name, now);
    }

    public void close() {
        real.close();
    }
}
