package dev.holdfast.memcached;

import dev.holdfast.spi.TimeSource;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import net.spy.memcached.MemcachedNode;
import org.jspecify.annotations.Nullable;

/**
 * The base of the grant numbers of a server, one item for all its locks. A grant's number is the base and the CAS id of its
 * write together:
 *
 * <ul>
 *   <li>while the server runs, each write has a higher CAS id than the one before
 *   <li>a base that is gone is made again from the microseconds of the clock: after a restart, CAS ids begin at 1, and the
 *       clock has gone on by more than there were writes
 *   <li>a base that leaves a number below what a client has seen is raised, by {@code incr}
 * </ul>
 *
 * <p>Thread-safe.
 */
final class Numbers {
    static final String KEY = StoredLock.PREFIX + "base";

    private final Map<MemcachedNode, Long> known = new ConcurrentHashMap<>();
    private final Commands commands;
    private final TimeSource time;
    private final Errors errors;

    Numbers(Commands commands, TimeSource time, Errors errors) {
        this.commands = commands;
        this.time = time;
        this.errors = errors;
    }

    /** Reads the bases of all servers: a claim that begins without one takes a second round trip. */
    void readAll() {
        for (MemcachedNode server : commands.servers()) {
            commands.gets(server, KEY).thenAccept(item -> learn(server, item));
        }
    }

    /** The base of a server as it was read last; 0 at first. */
    long known(MemcachedNode server) {
        return known.getOrDefault(server, 0L);
    }

    /** The base that was read, or null if it is gone. */
    @Nullable
    Long learn(MemcachedNode server, Commands.@Nullable Item item) {
        if (item == null) {
            return null;
        }
        Long base = parse(item.value());
        if (base == null) {
            throw errors.foreign(KEY);
        }
        known.put(server, base);
        return base;
    }

    /**
     * Makes or raises the base, so that the next write has a number above the floor.
     *
     * @param base as it was read; null if it is gone
     */
    CompletableFuture<?> prepare(MemcachedNode server, @Nullable Long base, long floor) {
        if (base == null) {
            long first = Math.max(time.wallMillis() * 1_000, floor);
            return commands.add(server, KEY, 0, Long.toString(first))
                    .thenCompose(made -> commands.gets(server, KEY))
                    .thenAccept(item -> learn(server, item));
        }
        return base >= floor
                ? CompletableFuture.completedFuture(base)
                : commands.raise(server, KEY, floor - base).thenAccept(raised -> {
                    if (raised != null) {
                        known.put(server, raised);
                    }
                });
    }

    /** Null if it is no number. */
    static @Nullable Long parse(String text) {
        try {
            long number = Long.parseLong(text.strip());
            return number > 0 ? number : null;
        } catch (NumberFormatException foreign) {
            return null;
        }
    }
}
