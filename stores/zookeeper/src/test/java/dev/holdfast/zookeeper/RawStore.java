package dev.holdfast.zookeeper;

import dev.holdfast.Holder;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** What is asked of a store without an engine. Its grants end with sessions, whatever the lease. */
final class RawStore {
    private RawStore() {}

    /** A claim that waits. */
    static Claim claim(String name) {
        return claim(name, true);
    }

    static Claim claim(String name, boolean waits) {
        Holder holder = new Holder("host", 1, "thread", "");
        return new Claim(ClaimId.random(), name, Mode.EXCLUSIVE, Duration.ofSeconds(10), waits, 0, holder);
    }

    static Grant granted(Asked pending) throws Exception {
        return answer(pending.answer()).orElseThrow();
    }

    static <T> T answer(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
    }
}
