package dev.holdfast.memcached;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.StoreContract;
import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.Started;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** The contract on a single server; a class for each of its storeys. */
abstract class MemcachedContract extends StoreContract {
    @Started
    private static MemcachedServer server;

    @Override
    protected Store open(StoreContext context) {
        return new MemcachedStoreProvider().open(url().orElseThrow(), context);
    }

    @Override
    protected Optional<String> url() {
        return Optional.of("memcached://" + server.endpoint() + "?timeout=4s");
    }

    /** The shortest. */
    @Override
    protected Duration lease() {
        return MemcachedStore.SHORTEST_LEASE;
    }

    /** The seconds of the server's clock: an item is given two more than its lease. */
    @Override
    protected Duration staysAfterItsLease() {
        return Duration.ofMillis(2_050);
    }

    /** A server that has stopped, with all connections open. */
    @Override
    protected Optional<AutoCloseable> breakStore() {
        server.process().stop();
        return Optional.of(server.process()::cont);
    }

    /** Items; the server counts those that have run out until it comes upon them. */
    @Override
    protected OptionalLong records() {
        return OptionalLong.of(server.ask("lru_crawler metadump hash").size() - 1L);
    }

    @Override
    protected long recordsKept(long names) {
        return 1; // the base of the numbers
    }

    @Override
    protected Set<String> expectedSkips() {
        return with(
                SKIPS_WITHOUT_SHARING,
                "Grants.aClaimOfAnotherThreadDoesNotOvertakeAReleaseThatIsAboutToBeSent",
                "Leases.aGrantOfASessionStandsWhileTheSessionLivesAndEndsWithIt",
                "OnceProcesses",
                "Onces",
                "Wanted");
    }
}
