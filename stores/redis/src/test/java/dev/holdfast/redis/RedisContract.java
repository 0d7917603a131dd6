package dev.holdfast.redis;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.StoreContract;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.Started;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** The contract on Redis, a class for each of its layers. */
abstract class RedisContract extends StoreContract {
    @Started
    private static RedisServer server;

    /** Gives requests up sooner than by default: the cases of outages wait for that. */
    @Override
    protected Store open(StoreContext context) {
        return new RedisStoreProvider().open(server.uri() + "?timeout=3s", context);
    }

    @Override
    protected Optional<String> url() {
        return Optional.of(server.uri());
    }

    /** A server that has stopped, with all connections open. */
    @Override
    protected Optional<AutoCloseable> breakStore() {
        server.process().stop();
        return Optional.of(server.process()::cont);
    }

    @Override
    protected OptionalLong records() {
        return OptionalLong.of(Long.parseLong(server.call("DBSIZE")));
    }

    /** Child processes renew on a machine that others use too. */
    @Override
    protected Duration lease() {
        return Duration.ofMillis(500);
    }

    /** The last number of all grants. */
    @Override
    protected long recordsKept(long names) {
        return 1;
    }

    @Override
    protected Set<String> expectedSkips() {
        return Set.of("Leases.aGrantOfASessionStandsWhileTheSessionLivesAndEndsWithIt");
    }
}
