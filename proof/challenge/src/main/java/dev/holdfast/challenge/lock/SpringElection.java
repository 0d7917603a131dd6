package dev.holdfast.challenge.lock;

import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;

/** Spring Integration's leader initiator over its Redis registry: a turn is an initiator of its own. */
final class SpringElection implements AttackedLock {
    private static final Duration POLL = Duration.ofMillis(5);

    private final LockRegistry<?> registry;
    private final String name;

    SpringElection(Place place, Duration lease) throws Exception {
        registry = new RedisLockRegistry(SpringConnections.at(place), "leaders", lease);
        name = place.name();
    }

    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(
                registry,
                new DefaultCandidate(Long.toString(ProcessHandle.current().pid()), name));
        initiator.start();
        try {
            while (!initiator.getContext().isLeader()) {
                Thread.sleep(POLL.toMillis());
            }
            work.run(new Grip(0, 0, () -> initiator.getContext().isLeader()));
            return initiator.getContext().isLeader() ? Result.DONE : Result.LOST;
        } finally {
            initiator.stop();
        }
    }
}
