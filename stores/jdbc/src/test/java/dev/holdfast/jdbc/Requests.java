package dev.holdfast.jdbc;

import dev.holdfast.Holder;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Claims as the tests make them, and their answers. */
final class Requests {
    static final Duration LEASE = Duration.ofSeconds(30);
    static final Holder HOLDER = new Holder("host", 7, "main", "label");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private Requests() {}

    static Claim claim(String name) {
        return new Claim(ClaimId.random(), name, Mode.EXCLUSIVE, LEASE, false, 0, HOLDER);
    }

    static Claim waiting(String name) {
        return waiting(claim(name));
    }

    static Claim waiting(Claim c) {
        return new Claim(c.id(), c.name(), c.mode(), c.lease(), true, c.floor(), c.holder());
    }

    static Claim mode(Claim c, Mode mode) {
        return new Claim(c.id(), c.name(), mode, c.lease(), c.waits(), c.floor(), c.holder());
    }

    static Claim lease(Claim c, Duration lease) {
        return new Claim(c.id(), c.name(), c.mode(), lease, c.waits(), c.floor(), c.holder());
    }

    static Claim floor(Claim c, long floor) {
        return new Claim(c.id(), c.name(), c.mode(), c.lease(), c.waits(), floor, c.holder());
    }

    /** The answer; a failure is thrown as it is. */
    static <T> T get(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException unchecked) {
                throw unchecked;
            }
            throw new AssertionError(e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("no answer", e);
        }
    }
}
