package dev.holdfast.flashsale;

import dev.holdfast.HoldfastException;
import dev.holdfast.LockClient;
import dev.holdfast.LockClientBuilder;
import dev.holdfast.LockStatus;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the lock of the sale as any other client of the store can: who holds it, with which token, and how many wait.
 * Reads on a thread of its own, so that a store that is away delays nothing else.
 */
final class LockWatch implements AutoCloseable {
    private static final long INTERVAL = 100; // milliseconds

    private final LockClient client;
    private final String lock;
    private final ScheduledExecutorService reader = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "lock");
        thread.setDaemon(true);
        return thread;
    });
    private volatile @Nullable Figures figures;

    /**
     * What is seen.
     *
     * @param holder the label of the client that holds it; null if nobody does
     * @param token the token of its hold, as text: numbers of JavaScript are too short for it
     * @param waiting the number of waiters
     * @param trouble why nothing could be seen; null if it could
     */
    record Figures(
            @Nullable String holder,
            @Nullable String token,
            int waiting,
            @Nullable String trouble) {}

    LockWatch(String store, @Nullable String password, String lock) {
        LockClientBuilder builder = LockClient.builder(store)
                .namespace(Storage.NAMESPACE)
                .label("the page")
                .connectLazily(true);
        client = (password == null ? builder : builder.password(password)).build();
        this.lock = lock;
    }

    void start() {
        reader.scheduleWithFixedDelay(this::read, 0, INTERVAL, TimeUnit.MILLISECONDS);
    }

    private void read() {
        try {
            LockStatus status = client.lock(lock).status();
            LockStatus.Held held = status.grant().orElse(null);
            figures = held == null
                    ? new Figures(null, null, status.waiting(), null)
                    : new Figures(held.holder().label(), Long.toString(held.token()), status.waiting(), null);
        } catch (HoldfastException away) {
            figures = new Figures(null, null, 0, away.getMessage());
        }
    }

    @Nullable
    Figures figures() {
        return figures;
    }

    /** Ends the hold that there is, as if its lease had run out now; false if there is none. */
    boolean expire() {
        try {
            return client.lock(lock)
                    .status()
                    .grant()
                    .map(held -> client.breakGrant(lock, held.token(), true))
                    .orElse(false);
        } catch (HoldfastException away) {
            throw new Refused("the store does not answer: " + away.getMessage(), away);
        }
    }

    @Override
    public void close() {
        reader.shutdownNow();
        client.close();
    }
}
