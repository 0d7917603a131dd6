package dev.holdfast.memcached;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.fuzz.StoreFuzz;
import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.Started;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Random histories on a single server, by leases that are shorter than those it gives. It is not killed: it would forget all,
 * and {@link MemoryPressureTest} says how far that is contained.
 */
class MemcachedFuzzTest extends StoreFuzz {
    @Started
    private static MemcachedServer server;

    @Override
    protected Store open(StoreContext context, int port, int client) {
        return MemcachedStores.open(
                MemcachedUrl.parse("memcached://127.0.0.1:" + port + "?timeout=4s"), context, Duration.ZERO);
    }

    @Override
    protected OptionalInt port() {
        return OptionalInt.of(server.port());
    }

    @Override
    protected boolean exclusiveOnly() {
        return true;
    }

    /** The item is given two seconds more than the lease, in whole seconds; one that was broken, another lease. */
    @Override
    protected Duration staysAfterItsLease() {
        return Duration.ofSeconds(6);
    }

    @Override
    protected boolean tellsLeaseLeft() {
        return false;
    }

    /** All locks of the server count on one base. */
    @Override
    protected Duration ahead() {
        return Duration.ofMillis(1);
    }

    /** A claim that is made again is written again. */
    @Override
    protected boolean repeatsKeepNumbers() {
        return false;
    }

    @Override
    protected Set<String> racesOutOfReach() {
        return Set.of("a repeated claim keeps its number");
    }

    @Override
    protected List<String> regressions() {
        return List.of(
                "3: 0 try 2 0 X 100; 3 revoke 0 0 - 100; 1 repeat 0 0 - 600; 3 withdraw 0 0 - 600",
                "3: 2 try 0 0 X 1000; 2 status 0 0 - 1000; 1 cut 0 0 - 50; 1 list 0 0 - 6000; 3 drop 0 0 - 200;"
                        + " 3 break 0 0 - 2500");
    }

    @Override
    protected Duration passesTheDead() {
        return Duration.ofSeconds(6);
    }
}
