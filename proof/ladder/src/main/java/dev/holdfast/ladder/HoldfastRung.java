package dev.holdfast.ladder;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.time.Duration;
import java.util.Optional;

/** The top: Holdfast, on any store that it has, with the short leases of the other rungs. */
public final class HoldfastRung implements Rung {
    private static final Duration LEASE = Duration.ofSeconds(2);

    private final LockClient client;

    /** A client of the store at a URL as {@link LockClient#connect} takes it. */
    public HoldfastRung(String url) {
        client = LockClient.connect(url);
    }

    @Override
    public boolean run(String name, Work work) {
        HoldOptions options = HoldOptions.defaults().lease(LEASE);
        // snippet ladderHoldfast
        Optional<Hold> held = client.lock(name, options).tryAcquire();
        if (held.isEmpty()) {
            return false;
        }
        try (Hold hold = held.get()) {
            work.run(hold.token());
        }
        return true;
        // end
    }

    @Override
    public void close() {
        client.close();
    }
}
