package dev.holdfast;

import dev.holdfast.internal.EngineDoor;
import dev.holdfast.spi.Store;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Breaks whatever a status shows, as a user does who has just seen it. */
public final class Breaking {
    private Breaking() {}

    /** False if nobody holds it. */
    public static CompletionStage<Boolean> shown(Store store, String name, boolean now) {
        return store.status(name)
                .thenCompose(status -> status.grant()
                        .map(held -> store.breakGrant(name, EngineDoor.number(held.token()), now))
                        .orElse(CompletableFuture.completedFuture(false)));
    }

    /** False if nobody holds it. */
    public static boolean shown(LockClient client, String name, boolean now) {
        return client.lock(name)
                .status()
                .grant()
                .map(held -> client.breakGrant(name, held.token(), now))
                .orElse(false);
    }
}
