package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A claim that was sent twice, since its connection broke, may be run twice: the second time when no client awaits it
 * any more. It changes nothing that counts.
 */
class LateClaimTest {
    private static final Duration SHORT = Duration.ofSeconds(2);
    private static final Duration LONG = Duration.ofMinutes(5);

    @AutoClose
    private final Rig rig = new Rig();

    static Stream<Mode> modes() {
        return Stream.of(Mode.EXCLUSIVE, Mode.SHARED, new Mode.Permits(2, 3));
    }

    @ParameterizedTest
    @MethodSource("modes")
    void itDoesNotShortenALeaseThatWasMadeLonger(Mode mode) {
        RedisStore store = rig.open();
        Claim claim = shortened(Rig.claim("a", mode));
        Grant grant = Rig.hold(store, claim);
        Rig.get(store.renew(List.of(grant.withLease(LONG))));

        arrivesLate(claim, "");

        assertThat(held(store).leaseLeft()).isGreaterThan(LONG.dividedBy(2));
    }

    @ParameterizedTest
    @MethodSource("modes")
    void itDoesNotRaiseTheNumber(Mode mode) {
        RedisStore store = rig.open();
        Claim claim = Rig.claim("a", mode);
        Grant grant = Rig.hold(store, claim);
        long shown = held(store).token();
        assertThat(arrivesLate(claim, "")).isEqualTo(Long.toString(grant.number()));

        assertThat(held(store).token()).isEqualTo(shown);
    }

    /**
     * It gets the lock once more, without a holder: the client that held it before does not take that grant for its
     * own.
     */
    @ParameterizedTest
    @MethodSource("modes")
    void itDoesNotReviveAGrantThatWasBroken(Mode mode) {
        RedisStore store = rig.open();
        Claim claim = Rig.claim("a", mode);
        Grant broken = Rig.hold(store, claim);
        assertThat(Rig.get(store.breakGrant("a", broken.number(), true))).isTrue();
        RedisStore another = rig.open();
        Rig.release(another, Rig.hold(another, "a"));

        assertThat(arrivesLate(claim, "")).as("without a holder").containsOnlyDigits();

        assertThat(Rig.renew(store, broken)).isEqualTo(Verdict.LOST);
        assertThat(Rig.get(store.downgrade(broken))).isFalse();
    }

    /** What it clears away, in case a copy of its claim is still on its way, is not the broken grant. */
    @Test
    void aBrokenGrantWhoseClaimWasSentTwiceKeepsOthersOutUntilItsLeaseHasRunOut() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore store = rig.open("redis://127.0.0.1:" + proxy.port());
            Rig.hold(store, "warm-up");
            Claim claim = Rig.claim("a", LONG);
            Grant grant = holdSentTwice(proxy, store, claim);
            assertThat(Rig.get(store.breakGrant("a", grant.number(), false))).isTrue();

            assertThat(Rig.renew(store, grant)).isEqualTo(Verdict.LOST);
            assertThat(Rig.release(store, grant)).isFalse();

            assertThat(Rig.attempt(rig.open(), "a")).isEmpty();
        }
    }

    @Test
    void aGrantWithoutHolderIsReleasedOnceARenewalFindsItsGrantLost() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore store = rig.open("redis://127.0.0.1:" + proxy.port());
            Rig.hold(store, "warm-up");
            Claim claim = Rig.claim("a", LONG);
            Grant grant = holdSentTwice(proxy, store, claim);
            assertThat(Rig.get(store.breakGrant("a", grant.number(), true))).isTrue();
            RedisStore next = rig.open();
            Rig.release(next, Rig.hold(next, "a"));
            assertThat(arrivesLate(claim, "")).as("without a holder").containsOnlyDigits();

            assertThat(Rig.renew(store, grant)).isEqualTo(Verdict.LOST);

            Awaitility.await()
                    .atMost(Rig.TIMEOUT)
                    .until(() -> Rig.attempt(next, "a").isPresent());
        }
    }

    @Test
    void theReleaseOfALostGrantTakesThePlaceThatItLeftInTheQueue() {
        RedisStore store = rig.open();
        Claim claim = shortened(Rig.waiting(Rig.claim("a")));
        Grant first = Rig.hold(store, "a");
        var waits = Asked.of(store, claim);
        Rig.until("its place", () -> Rig.waiting(store, "a") == 1);
        String channel = rig.call("ZRANGE", "holdfast:{a}:q", "0", "0").replaceAll("^.*:(.*)]$", "$1");
        Rig.release(store, first);
        Grant lost = Rig.granted(waits);
        Rig.until("its lease to end", () -> !Rig.get(store.status("a")).isHeld());
        Rig.hold(rig.open(), "a");
        arrivesLate(claim, channel);
        assertThat(Rig.waiting(store, "a")).as("the place without a waiter").isEqualTo(1);

        assertThat(Rig.release(store, lost)).isFalse();

        assertThat(Rig.waiting(store, "a")).isZero();
    }

    @ParameterizedTest
    @MethodSource("modes")
    void aClaimThatWasSentTwiceIsRefusedAfterItsRelease(Mode mode) {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore store = rig.open("redis://127.0.0.1:" + proxy.port());
            Rig.hold(store, "warm-up");
            Claim claim = Rig.claim("a", mode);
            Grant grant = holdSentTwice(proxy, store, claim);

            assertThat(Rig.release(store, grant)).isTrue();

            assertThat(arrivesLate(claim, "")).isEqualTo("-");
            assertThat(Rig.get(store.status("a")).isHeld()).isFalse();
        }
    }

    @Test
    void aClaimThatWasSentTwiceIsWithdrawnOnceMoreAfterItsRelease() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore store = rig.open("redis://127.0.0.1:" + proxy.port());
            Rig.hold(store, "warm-up");
            Duration lease = Duration.ofSeconds(9);
            Claim claim = Rig.claim("a", lease);
            Grant grant = holdSentTwice(proxy, store, claim);
            Rig.release(store, grant);
            RedisStore next = rig.open();
            Rig.release(next, Rig.hold(next, "a"));

            assertThat(arrivesLate(claim, "")).as("without a holder").containsOnlyDigits();

            Awaitility.await()
                    .atMost(lease.multipliedBy(2).dividedBy(3))
                    .until(() -> Rig.attempt(next, "a").isPresent());
        }
    }

    /** Its lease counts from there: from the first sending on, it would be over before the answer. */
    @Test
    void aWaitBegunBeforeAnOutageLongerThanItsLeaseGetsTheLockOnTheNextConnection() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port());
                LockClient client = LockClient.connect("redis://127.0.0.1:" + proxy.port())) {
            HoldOptions options = HoldOptions.defaults().lease(SHORT);
            client.lock("warm-up").acquire().close();
            proxy.toServer().swallow();
            var first = client.lock("first", options).acquireAsync();
            var behindIt = client.lock("a", options).acquireAsync();
            proxy.toServer().awaitBite(Rig.TIMEOUT);
            long asked = System.nanoTime();
            proxy.refuse();
            proxy.cut();
            Rig.until("a lease to be over", () -> System.nanoTime() - asked > SHORT.toNanos());

            proxy.heal();

            assertThat(first.get(Rig.TIMEOUT.toSeconds(), TimeUnit.SECONDS).isValid())
                    .isTrue();
            assertThat(behindIt.get(Rig.TIMEOUT.toSeconds(), TimeUnit.SECONDS).isValid())
                    .isTrue();
        }
    }

    @Test
    void aClaimThatWasSentOnceIsNotWithdrawn() {
        RedisStore store = rig.open();
        Duration lease = Duration.ofMillis(600);
        Grant grant = Rig.hold(store, Rig.claim("a", lease));
        Rig.release(store, grant);
        rig.commands();

        Awaitility.await().during(lease).until(() -> !rig.commands().containsKey("evalsha"));
    }

    private static LockStatus.Held held(RedisStore store) {
        return Rig.get(store.status("a")).grant().orElseThrow();
    }

    private static Claim shortened(Claim c) {
        return new Claim(c.id(), c.name(), c.mode(), SHORT, c.waits(), c.floor(), c.holder());
    }

    /** The first reply to its claim is lost. */
    private static Grant holdSentTwice(TcpProxy proxy, RedisStore store, Claim claim) {
        ReplyDrop lost = proxy.dropNextReply(ChunkMatcher.containing(claim.id().value()));
        Grant grant = Rig.hold(store, claim);
        lost.awaitBite(Rig.TIMEOUT);
        return grant;
    }

    /** The same claim once more, on a connection that no client reads. */
    private String arrivesLate(Claim claim, String channel) {
        Script script = claim.mode() instanceof Mode.Exclusive ? Script.CLAIM : Script.CLAIM_FULLY;
        List<String> words = new ArrayList<>(List.of("EVAL", script.body(), "1", "holdfast:{" + claim.name() + "}"));
        words.addAll(Scripts.words(claim, new Scripts.Place(channel, "0", Duration.ofSeconds(1), true)));
        return rig.call(words.toArray(String[]::new));
    }
}
