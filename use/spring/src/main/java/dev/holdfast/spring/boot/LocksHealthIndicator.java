package dev.holdfast.spring.boot;

import dev.holdfast.ClientStatistics;
import dev.holdfast.LockClient;
import dev.holdfast.Loss;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * Whether the stores of the lock clients answer: {@code DOWN} if one does not, {@code DEGRADED} if all do and one has failed
 * requests or lost holds since the last look, else {@code UP}. A look is one read of a lock that nobody uses; all stores are
 * read at one time, and one that does not answer within a second is down. Thread-safe.
 */
public final class LocksHealthIndicator extends AbstractHealthIndicator {
    /** The store answers, and has not always done so since the last check. */
    public static final Status DEGRADED =
            new Status("DEGRADED", "requests to the store have failed, or holds were lost");

    private static final String PROBE = "holdfast-health";

    private final Map<String, LockClient> clients;
    private final StoreQuestions stores;
    private final Map<String, Long> troubles = new ConcurrentHashMap<>();

    LocksHealthIndicator(Map<String, LockClient> clients) {
        super("cannot check the lock stores");
        this.clients = Map.copyOf(clients);
        this.stores = new StoreQuestions(clients);
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        health.up();
        boolean down = false;
        boolean degraded = false;
        Map<String, Boolean> answers = stores.ask(LocksHealthIndicator::answers, reason -> false);
        for (Map.Entry<String, LockClient> client : clients.entrySet()) {
            boolean answered = Boolean.TRUE.equals(answers.get(client.getKey()));
            Status status = answered ? look(client.getKey(), client.getValue()) : Status.DOWN;
            down |= status.equals(Status.DOWN);
            degraded |= status.equals(DEGRADED);
            health.withDetail(client.getKey(), client.getValue().store() + ": " + status.getCode());
        }
        if (down) {
            health.down();
        } else if (degraded) {
            health.status(DEGRADED);
        }
    }

    private static boolean answers(LockClient client) {
        client.lock(PROBE).status();
        return true;
    }

    private Status look(String name, LockClient client) {
        ClientStatistics now = client.statistics();
        long lost = now.losses() - now.losses(Loss.Cause.FIXED_LEASE_ENDED); // which was requested
        long all = now.failedStoreCalls() + now.failedRenewals() + lost;
        Long before = troubles.put(name, all);
        return before != null && all > before ? DEGRADED : Status.UP;
    }
}
