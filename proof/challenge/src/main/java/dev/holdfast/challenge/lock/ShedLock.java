package dev.holdfast.challenge.lock;

import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

/** ShedLock, which never waits: its caller tries again, each 100 ms. */
record ShedLock(LockProvider provider, String name, Duration atMost) implements AttackedLock {
    static ShedLock onRedis(Place place, Duration atMost) throws Exception {
        return new ShedLock(new RedisLockProvider(SpringConnections.at(place), "challenge"), place.name(), atMost);
    }

    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        SimpleLock lock = acquire();
        try {
            work.run(UNTOLD);
        } finally {
            lock.unlock();
        }
        return Result.DONE;
    }

    private SimpleLock acquire() throws InterruptedException {
        while (true) {
            Optional<SimpleLock> lock =
                    provider.lock(new LockConfiguration(Instant.now(), name, atMost, Duration.ZERO));
            if (lock.isPresent()) {
                return lock.get();
            }
            Thread.sleep(LibraryLock.BETWEEN_TRIES.toMillis());
        }
    }

    @Override
    public void close() {
        // The connections are the worker's.
    }
}
