package dev.holdfast.redis;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Asked;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A release and the claim of the same lock behind it, in one script. */
record Exchange(CompletionStage<Boolean> released, CompletionStage<Optional<Grant>> claimed) {
    static Exchange of(RedisStore store, Grant grant, Claim claim) {
        CompletableFuture<Exchange> made = new CompletableFuture<>();
        store.beforeSending(
                claim.name(),
                () -> made.complete(new Exchange(
                        store.release(grant), Asked.of(store, claim).answer())));
        return Rig.get(made);
    }
}
