package dev.holdfast.redis;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.ServerClock;
import java.time.Duration;
import java.time.Instant;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server's clock is set while locks are held. */
@Tag("thorough")
class ClockTest {
    private static final Duration HOUR = Duration.ofHours(1);

    private ServerClock clock;
    private Rig rig;

    @BeforeEach
    void start() {
        clock = orSkip(ServerClock::create);
        rig = Rig.installed(clock.environment());
    }

    @AfterEach
    void stop() {
        if (rig != null) {
            rig.close();
        }
        if (clock != null) {
            clock.close();
        }
    }

    @Test
    void setForwardItEndsLeasesEarlyAndTheTokenDistinguishesTheTwo() {
        RedisStore one = rig.open();
        Grant first = Rig.hold(one, "a");

        clock.set(HOUR);

        Grant second = Rig.hold(rig.open(), "a");
        assertThat(second.number()).isGreaterThan(first.number());
        assertThat(Rig.renew(one, first)).as("the answer to the first").isEqualTo(Verdict.LOST);
        assertThat(Rig.release(one, first)).isFalse();
        assertThat(Rig.attempt(one, "a")).as("the second's hold is valid").isEmpty();
    }

    @Test
    void setBackItEndsNoLeaseEarlyAndRenewalsGoOn() {
        RedisStore one = rig.open();
        Grant first = Rig.hold(one, "a");

        clock.set(HOUR.negated());

        assertThat(Rig.attempt(rig.open(), "a")).isEmpty();
        assertThat(Rig.renew(one, first)).isEqualTo(Verdict.HELD);
        assertThat(Rig.get(one.status("a")).grant().orElseThrow().leaseLeft())
                .as("the renewal sets it by the new time")
                .isLessThanOrEqualTo(Rig.LEASE);
        Rig.release(one, first);
        assertThat(Rig.hold(rig.open(), "a").number()).isGreaterThan(first.number());
    }

    @ParameterizedTest
    @ValueSource(longs = {-3600, 3600})
    void readersAndPermitsOutliveAStepOnceTheyAreRenewed(long seconds) {
        RedisStore store = rig.open();
        Claim two = Rig.claim("p", new Mode.Permits(2, 3));
        Grant held = Rig.hold(store, two);

        clock.set(Duration.ofSeconds(seconds));

        if (seconds > 0) {
            assertThat(Rig.renew(store, held)).isEqualTo(Verdict.LOST);
            held = Rig.hold(store, Rig.claim("p", new Mode.Permits(2, 3)));
        }
        assertThat(Rig.renew(store, held)).isEqualTo(Verdict.HELD);
        assertThat(Rig.get(Asked.of(store, two).answer()).isPresent()).isEqualTo(seconds < 0);
        assertThat(Rig.get(
                        Asked.of(store, Rig.claim("p", new Mode.Permits(2, 3))).answer()))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {-3600, 3600})
    void waitersAreServedWhateverTheClockDoes(long seconds) {
        RedisStore one = rig.open();
        Grant first = Rig.hold(one, "a");
        Asked waits = Rig.queue(rig.open(rig.server.uri(), Duration.ofMillis(200)), "a");

        clock.set(Duration.ofSeconds(seconds));
        Rig.release(one, first);

        assertThat(Rig.granted(waits).number()).isGreaterThan(first.number());
    }

    @Test
    void tokensRiseThoughTheCounterIsLostAndTheClockIsSetBack() throws InterruptedException {
        assertTokensRise(HOUR.negated(), true);
    }

    /** Microseconds since 1970 had a digit less until September 2001; a machine without a battery may begin there. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void tokensRiseThoughTheClockIsSetToTheYear2000(boolean isCounterLost) throws InterruptedException {
        assertTokensRise(Duration.between(Instant.now(), Instant.parse("2000-01-01T00:00:00Z")), isCounterLost);
    }

    private void assertTokensRise(Duration step, boolean isCounterLost) throws InterruptedException {
        HoldOptions options = HoldOptions.defaults();
        try (LockClient client = LockClient.connect(rig.server.uri())) {
            long before;
            try (Hold hold = client.lock("a", options).acquire()) {
                before = hold.token();
            }
            clock.set(step);
            if (isCounterLost) {
                rig.call("FLUSHALL");
            }
            try (Hold hold = client.lock("a", options).acquire()) {
                assertThat(hold.token()).isGreaterThan(before);
            }
        }
    }

    /** The last number is that of all locks, and outlives each of them. */
    @ParameterizedTest
    @ValueSource(strings = {"exclusive", "shared", "permits", "waiting"})
    void aNewClientIsGivenAHigherNumberThoughTheClockIsSetBack(String kind) {
        RedisStore one = rig.open();
        Grant before = Rig.hold(one, "a");
        Rig.release(one, before);
        clock.set(Duration.between(Instant.now(), Instant.parse("2000-01-01T00:00:00Z")));

        Claim claim = switch (kind) {
            case "shared" -> Rig.claim("a", Mode.SHARED);
            case "permits" -> Rig.claim("a", new Mode.Permits(1, 2));
            case "waiting" -> Rig.waiting(Rig.claim("a"));
            default -> Rig.claim("a");
        };
        assertThat(Rig.hold(rig.open(), claim).number()).isEqualTo(before.number() + 1);
        assertThat(Rig.hold(rig.open(), "b").number()).isEqualTo(before.number() + 2);
    }

    /** A machine without a battery begins there. */
    @Test
    void setTo1970ItKeepsNoLockFromBeingHadAndTheLastNumberCountsOn() {
        RedisStore one = rig.open();
        Grant before = Rig.hold(one, "a");
        Rig.release(one, before);

        clock.set(Duration.between(Instant.now(), Instant.parse("1970-01-01T01:00:00Z")));

        assertThat(Rig.hold(one, "a").number()).isEqualTo(before.number() + 1);
        assertThat(Rig.hold(rig.open(), "b").number()).isEqualTo(before.number() + 2);
        rig.call("DEL", "holdfast:number");
        assertThat(Rig.hold(one, Rig.above(Rig.claim("c"), before.number() + 2)).number())
                .isEqualTo(before.number() + 3);
    }

    /** Numbers that were given meanwhile are told of, since tokens would not rise any more. */
    @Test
    void setBackByMoreThanTenYearsItRefusesLocksUntilSomebodyDecides() {
        clock.set(Duration.ofDays(20 * 365));
        RedisStore one = rig.open();
        Grant far = Rig.hold(one, "a");
        Rig.release(one, far);

        clock.set(Duration.ZERO);

        assertThatThrownBy(() -> Rig.hold(one, "a"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("remove the key holdfast:number")
                .hasMessageContaining("set the clock");
        rig.call("DEL", "holdfast:number");
        assertThatThrownBy(() -> Rig.hold(one, Rig.above(Rig.claim("a"), far.number())))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("connect again")
                .hasMessageContaining("tokens");
        assertThat(Rig.hold(rig.open(), "a").number()).isLessThan(far.number());
    }

    /** Not promised, as {@code capabilities()} says: this shows that the shim works. */
    @Test
    void aNewClientOnAServerThatLostItsCounterGoesByTheClock() {
        Grant before = Rig.hold(rig.open(), "a");
        rig.call("FLUSHALL");
        assertThat(Rig.hold(rig.open(), "b").number()).isGreaterThan(before.number());
        rig.call("FLUSHALL");
        clock.set(HOUR.negated());

        assertThat(Rig.hold(rig.open(), "a").number()).isLessThan(before.number());
    }

    @Test
    void theHoldersOwnDeadlineIsNotMoved() throws InterruptedException {
        HoldOptions options =
                HoldOptions.defaults().lease(Duration.ofSeconds(3)).autoRenew(false);
        try (LockClient client = LockClient.connect(rig.server.uri())) {
            Hold hold = client.lock("a", options).acquire();

            clock.set(HOUR.negated());

            Awaitility.await().atMost(Rig.TIMEOUT).until(() -> !hold.isValid()); // and not an hour
            assertThat(Rig.attempt(rig.open(), "a"))
                    .as("the server keeps it for longer")
                    .isEmpty();
        }
    }
}
