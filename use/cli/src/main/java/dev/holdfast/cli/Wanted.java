package dev.holdfast.cli;

import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedMultiLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What {@code holdfast run} is to hold: one name in some mode, or several names alone.
 *
 * @param names one or more, in the order in which they were given; one where the mode is not exclusive
 * @param mode how
 */
record Wanted(List<String> names, Mode mode) {

    /** A way to acquire it. */
    @FunctionalInterface
    interface Way {
        /**
         * Acquires it, all or nothing.
         *
         * @param patience how long to wait; null is for ever
         * @return what is held; empty if it could not be acquired in that time
         */
        Optional<Held> acquire(@Nullable Duration patience) throws InterruptedException;
    }

    /**
     * How a client acquires it.
     *
     * @throws CliException if a name is none, or stands there twice
     * @throws dev.holdfast.UnsupportedByStoreException if the store has no such holds
     */
    Way by(LockClient client, HoldOptions options) {
        try {
            return names.size() > 1 ? all(client.multiLock(names, options)) : one(client, names.get(0), options);
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
        }
    }

    private Way one(LockClient client, String name, HoldOptions options) {
        return switch (mode.kind()) {
            case EXCLUSIVE -> alone(client.lock(name, options));
            case SHARED -> alone(client.readWriteLock(name, options).read());
            case PERMITS -> some(client, name, (Mode.Permits) mode, options);
        };
    }

    private static Way alone(DistributedLock lock) {
        return patience -> (patience == null ? Optional.of(lock.acquire()) : lock.tryAcquire(patience)).map(Held::one);
    }

    private static Way some(LockClient client, String name, Mode.Permits some, HoldOptions options) {
        DistributedSemaphore semaphore = client.semaphore(name, some.of(), options);
        return patience -> (patience == null
                        ? Optional.of(semaphore.acquire(some.permits()))
                        : semaphore.tryAcquire(some.permits(), patience))
                .map(Held::one);
    }

    private Way all(DistributedMultiLock lock) {
        return patience -> (patience == null ? Optional.of(lock.acquire()) : lock.tryAcquire(patience))
                .map(holds -> Held.several(names, holds));
    }

    /** For messages: {@code lock 'a'}, {@code locks 'a', 'b'}, {@code 2 of 4 permits of 'a'}. */
    String shown() {
        String quoted = names.stream().map(name -> "'" + name + "'").collect(Collectors.joining(", "));
        if (mode instanceof Mode.Permits some) {
            return some.permits() + " of " + some.of() + " permits of " + quoted;
        }
        return (names.size() > 1 ? "locks " : "lock ") + quoted;
    }
}
