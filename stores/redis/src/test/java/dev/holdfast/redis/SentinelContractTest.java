package dev.holdfast.redis;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.StoreContract;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisSentinels;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The contract on a master that Sentinels name, with a replica that confirms each grant ({@code acks=1}). For {@code ./verify
 * --all}: the contract of one server is everyday, and {@link SentinelTest}, {@link AcksTest} and {@link FailoverTest} have
 * what differs. The engine and processes reach the same server there: {@link RedisEngineContractTest} and {@link
 * RedisProcessContractTest} have their cases, but for those of an outage.
 */
@Tag("only-client-outages")
@Tag("processes-in-another-class")
@Tag("thorough")
class SentinelContractTest extends StoreContract {
    @AutoClose
    private static RedisSentinels redis;

    @BeforeAll
    static void startServers() {
        redis = OrSkip.orSkip(() -> RedisSentinels.start(1, 3));
    }

    /** Gives requests up sooner than by default: the cases of outages wait for that. */
    @Override
    protected Store open(StoreContext context) {
        return new RedisStoreProvider().open(redis.uri() + "?timeout=3s&acks=1", context);
    }

    @Override
    protected Optional<String> url() {
        return Optional.of(redis.uri());
    }

    /** The master stops with all connections open, and the Sentinels before it, so that none replaces it. */
    @Override
    protected Optional<AutoCloseable> breakStore() {
        for (int i = 0; i < 3; i++) {
            redis.sentinel(i).stop();
        }
        redis.master().process().stop();
        return Optional.of(() -> {
            redis.master().process().cont();
            for (int i = 0; i < 3; i++) {
                redis.sentinel(i).cont();
            }
        });
    }

    @Override
    protected OptionalLong records() {
        return OptionalLong.of(Long.parseLong(redis.master().call("DBSIZE")));
    }

    /** Child processes renew on a machine that others use too. */
    @Override
    protected Duration lease() {
        return Duration.ofMillis(500);
    }

    /** One key for half a minute. */
    @Override
    protected long recordsKept(long names) {
        return names;
    }

    @Override
    protected Set<String> expectedSkips() {
        return Set.of("Leases.aGrantOfASessionStandsWhileTheSessionLivesAndEndsWithIt");
    }
}
