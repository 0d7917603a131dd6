package dev.holdfast.challenge.lock;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;

/** This library's locks, read-write locks and semaphores. */
final class HoldfastLock implements AttackedLock {
    private final LockClient client;
    private final String name;
    private final HoldOptions options;
    private final boolean shared;

    HoldfastLock(LockClient client, String name, HoldOptions options, boolean shared) {
        this.client = client;
        this.name = name;
        this.options = options;
        this.shared = shared;
    }

    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        try (Hold hold = acquire(mode)) {
            work.run(new Grip(hold.token(), 0, hold::isValid));
        } catch (HoldLostException lost) {
            return Result.LOST;
        }
        return Result.DONE;
    }

    private Hold acquire(Mode mode) throws InterruptedException {
        if (mode instanceof Permits some) {
            return client.semaphore(name, some.of(), options).acquire(some.permits());
        }
        if (mode instanceof Mode.Shared) {
            return client.readWriteLock(name, options).read().acquire();
        }
        return shared
                ? client.readWriteLock(name, options).write().acquire()
                : client.lock(name, options).acquire();
    }
}
