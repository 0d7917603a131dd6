package dev.holdfast.redis;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.StoreContract;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;

/** The contract on independent servers, a class for each number of them. */
abstract class QuorumContract extends StoreContract {
    @AutoClose
    private static QuorumServers servers;

    private static long marks;

    static void start(int members) {
        servers = OrSkip.orSkip(() -> QuorumServers.start(members));
        marks = members;
    }

    /** Gives requests up sooner than by default: the cases of outages wait for that. */
    @Override
    protected Store open(StoreContext context) {
        return new RedisStoreProvider().open(servers.url() + "?timeout=3s", context);
    }

    @Override
    protected Optional<String> url() {
        return Optional.of(servers.url());
    }

    /** All members have stopped, with all connections open. */
    @Override
    protected Optional<AutoCloseable> breakStore() {
        servers.all().forEach(server -> server.process().stop());
        return Optional.of(
                () -> servers.all().forEach(server -> server.process().cont()));
    }

    @Override
    protected OptionalLong records() {
        return OptionalLong.of(
                servers.all().stream().mapToLong(QuorumContract::keys).sum());
    }

    private static long keys(RedisServer server) {
        return Long.parseLong(server.call("DBSIZE"));
    }

    /** Child processes renew on a machine that others use too. */
    @Override
    protected Duration lease() {
        return Duration.ofMillis(500);
    }

    /** One key for half a minute at each member, the last number, and one with the time that it has to sit out. */
    @Override
    protected long recordsKept(long names) {
        return (names + 1) * marks;
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
