package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.TcpProxy;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** On a Lettuce client of the application. */
class OwnLettuceClientTest {
    @AutoClose
    private final Rig rig = new Rig();

    @Test
    void locksExcludeThoseOfUrlsAndTheClientStaysItsOwners() throws Exception {
        try (RedisClient redis = RedisClient.create(rig.server.uri())) {
            try (LockClient client = LockClient.builder(RedisStores.on(redis)).build();
                    LockClient other = LockClient.connect(rig.server.uri())) {
                DistributedLock inOrder =
                        client.lock("a", HoldOptions.defaults().strictFifo(true));
                Hold hold = inOrder.acquire();
                assertThat(other.lock("a").tryAcquire()).isEmpty();
                var next = other.lock("a").acquireAsync();
                Rig.until("it to wait", () -> other.lock("a").status().waiting() == 1);
                // the closed hold does not go to this waiter, of the same client
                var back = inOrder.acquireAsync();
                hold.close();
                Hold there = next.get(10, TimeUnit.SECONDS);
                assertThat(there.token()).isGreaterThan(hold.token());
                there.close();
                Hold here = back.get(10, TimeUnit.SECONDS);
                assertThat(here.token()).isGreaterThan(there.token());
                here.close();
            }
            assertThat(redis.connect().sync().ping()).isEqualTo("PONG");
        }
    }

    /** Lettuce gives commands its own timeout by default, and wraps the end of a connection. */
    @Test
    void aConnectionOfAnOrdinaryClientIsEndedAndComesBack() {
        try (RedisClient redis = RedisClient.create(rig.server.uri());
                var connection = redis.connect()) {
            long before = connection.sync().clientId();

            LettuceConnection.disconnect(connection);

            Rig.until("another connection", () -> connection.sync().clientId() != before);
        }
    }

    /** Its commands have a timeout below that of a store: an end by that timeout is no answer of the server. */
    @Test
    void aConnectionThatGoesNowhereIsMadeAgainThoughCommandsTimeOutEarlier() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port());
                RedisClient redis = impatient(proxy.port());
                RedisStore store = on(redis)) {
            Rig.hold(store, "a");
            long before = proxy.connections().accepted();
            proxy.toServer().swallow();

            assertThatThrownBy(() -> Rig.attempt(store, "b")).isInstanceOf(StoreUnavailableException.class);

            Rig.until("a new connection", () -> proxy.connections().accepted() > before);
        }
    }

    /** Renewals are sent once each. */
    @Test
    void soItIsWhereNothingIsAskedButToRenew() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port());
                RedisClient redis = impatient(proxy.port());
                RedisStore store = on(redis)) {
            Grant grant = Rig.hold(store, "a");
            long before = proxy.connections().accepted();
            proxy.toServer().swallow();

            store.renew(List.of(grant));

            Rig.until("a new connection", () -> proxy.connections().accepted() > before);
        }
    }

    /** The server runs the first copy and a later one, both on one connection. */
    @Test
    void aReleaseThatTimedOutAndWasSentAgainReportsSuccess() {
        try (RedisClient redis = impatient(rig.server.port());
                RedisStore store = on(redis)) {
            Grant grant = Rig.hold(store, "a");
            rig.call("CLIENT", "PAUSE", "3000");

            assertThat(Rig.release(store, grant)).isTrue();

            assertThat(Rig.attempt(store, "a")).isPresent();
        }
    }

    @Test
    void aBreakThatTimedOutOnABusyServerAndWasSentAgainIsNeverReportedToHaveBrokenNothing() {
        try (RedisClient redis = impatient(rig.server.port());
                RedisStore store = on(redis)) {
            Grant grant = Rig.hold(store, "a");
            rig.call("CLIENT", "PAUSE", "3000");

            assertThatThrownBy(() -> Rig.get(store.breakGrant("a", grant.number(), true)))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("cannot tell whether 'a'");

            assertThat(Rig.attempt(store, "a")).isPresent();
        }
    }

    /** All that was asked in an outage is to be sent at its end. */
    @Test
    void aClientWithAShortQueueSendsMoreThanItHolds() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port());
                RedisClient redis = RedisClient.create("redis://127.0.0.1:" + proxy.port())) {
            redis.setOptions(ClientOptions.builder().requestQueueSize(100).build());
            try (RedisStore store = on(redis)) {
                Rig.hold(store, "warm-up");
                proxy.refuse();
                assertThat(proxy.cut()).isPositive();
                List<Asked> claims = IntStream.range(0, 1_000)
                        .mapToObj(i -> Asked.of(store, Rig.claim("a" + i)))
                        .toList();

                proxy.heal();

                assertThat(claims).allMatch(claim -> Rig.get(claim.answer()).isPresent());
            }
        }
    }

    private static RedisClient impatient(int port) {
        return RedisClient.create(RedisURI.builder()
                .withHost("127.0.0.1")
                .withPort(port)
                .withTimeout(Duration.ofSeconds(1))
                .build());
    }

    private RedisStore on(RedisClient redis) {
        return (RedisStore) RedisStores.on(redis).open(rig.context());
    }

    @Test
    void oneThatDoesNotConnectAgainByItselfIsRefused() {
        try (RedisClient redis = RedisClient.create(rig.server.uri())) {
            redis.setOptions(ClientOptions.builder().autoReconnect(false).build());
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> RedisStores.on(redis))
                    .withMessageContaining("autoReconnect");
        }
    }

    /** A lost subscription would not come back, and its waiter would never be notified of its turn. */
    @Test
    void waitingClaimsAreRefusedAfterAutoReconnectIsSwitchedOff() {
        RedisClient redis = RedisClient.create(rig.server.uri());
        try (var store = RedisStores.on(redis).open(rig.context())) {
            Rig.hold(rig.open(), "a");
            redis.setOptions(ClientOptions.builder().autoReconnect(false).build());

            assertThatThrownBy(() ->
                            Rig.get(Asked.of(store, Rig.waiting(Rig.claim("a"))).answer()))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("autoReconnect");

            assertThat(Rig.get(Asked.of(store, Rig.claim("b")).answer()))
                    .as("what does not wait")
                    .isPresent();
        } finally {
            redis.shutdown(0, 0, TimeUnit.SECONDS);
        }
    }
}
