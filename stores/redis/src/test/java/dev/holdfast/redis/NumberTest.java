package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The last grant number, one key for all locks: lost, old, or written by hand. {@link ClockTest} sets the clock. */
class NumberTest {
    private static final String KEY = "holdfast:number";
    private static final long HOUR = TimeUnit.HOURS.toMicros(1);

    private static Rig rig;

    private RedisStore store;

    @BeforeAll
    static void start() {
        rig = new Rig();
    }

    @BeforeEach
    void begin() {
        rig.call("FLUSHALL");
        store = rig.open();
    }

    @AfterAll
    static void stop() {
        if (rig != null) {
            rig.close();
        }
    }

    static Stream<Claim> claims() {
        return Stream.of(
                Rig.claim("a"),
                Rig.waiting(Rig.claim("a")),
                Rig.claim("a", Mode.SHARED),
                Rig.claim("a", new Mode.Permits(1, 2)));
    }

    @ParameterizedTest
    @MethodSource("claims")
    void isThatOfTheLastGrantOfAnyLock(Claim claim) {
        Grant other = Rig.hold(store, "other");

        Grant grant = Rig.hold(store, claim);

        assertThat(grant.number()).isGreaterThan(other.number());
        assertThat(rig.call("GET", KEY)).isEqualTo(Long.toString(grant.number()));
    }

    @ParameterizedTest
    @MethodSource("claims")
    void deletedItGoesOnAboveTheClockForClientsOldAndNew(Claim claim) {
        Grant before = Rig.hold(store, "a");
        rig.call("DEL", KEY);
        assertThat(Rig.renew(store, before)).as("the hold goes on").isEqualTo(Verdict.HELD);
        Rig.release(store, before);

        assertThat(Rig.hold(rig.open(), claim).number()).isGreaterThan(before.number());
        assertThat(rig.call("EXISTS", KEY)).isEqualTo("1");
    }

    /** As in an old copy of the data, or by hand. */
    @ParameterizedTest
    @ValueSource(strings = {"0", "1", "5", "-7", "-9223372036854775808", "AN HOUR AGO"})
    void setLowerItGoesOnAboveTheClock(String value) {
        Grant before = Rig.hold(store, "a");
        Rig.release(store, before);
        set(value.equals("AN HOUR AGO") ? Long.toString(before.number() - HOUR) : value);

        Grant next = Rig.hold(rig.open(), "a");

        assertThat(next.number()).isGreaterThan(before.number());
        Rig.release(store, next);
        assertThat(Rig.hold(rig.open(), "a").number()).isGreaterThan(next.number());
    }

    @ParameterizedTest
    @MethodSource("claims")
    void aheadOfTheClockItIsCountedOn(Claim claim) {
        long ahead = Rig.hold(store, "other").number() + HOUR;
        set(Long.toString(ahead));

        assertThat(Rig.hold(store, claim).number()).isEqualTo(ahead + 1);
        assertThat(Rig.hold(rig.open(), "b").number()).isEqualTo(ahead + 2);
    }

    @Test
    void aFloorAboveItRaisesItForAllClients() {
        long floor = Rig.hold(store, "other").number() + HOUR;

        assertThat(Rig.hold(store, Rig.above(Rig.claim("a"), floor)).number()).isEqualTo(floor + 1);
        assertThat(Rig.hold(rig.open(), "b").number()).isEqualTo(floor + 2);
    }

    @Test
    void aFloorThatLeavesNoRoomForATokenIsRefused() {
        assertThatThrownBy(() -> Rig.hold(store, Rig.above(Rig.claim("a"), Long.MAX_VALUE / 1024)))
                .isInstanceOf(StoreRefusedException.class);

        assertThat(rig.call("KEYS", "*")).isEqualTo("[]");
    }

    @ParameterizedTest
    @MethodSource("claims")
    void aKeyOfAnotherTypeIsReportedNothingIsGrantedAndItIsLeftAlone(Claim claim) {
        rig.call("RPUSH", KEY, "x");

        assertThatThrownBy(() -> Rig.get(Asked.of(store, claim).answer()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("another type")
                .hasMessageContaining("holdfast:*");

        assertThat(rig.call("KEYS", "*")).isEqualTo("[" + KEY + "]");
        assertThat(rig.call("LRANGE", KEY, "0", "-1")).isEqualTo("[x]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "hello",
                "nan",
                "inf",
                "",
                "12 bottles",
                "9007199254740991",
                "9999999999999999",
                "99999999999999999999"
            })
    void aValueThatIsNoNumberOfAGrantIsReportedNothingIsGrantedAndItIsLeftAlone(String value) {
        set(value);

        claims().forEach(claim -> {
            assertThatThrownBy(() -> Rig.get(Asked.of(store, claim).answer()))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining(KEY);
            assertThat(rig.call("KEYS", "*")).isEqualTo("[" + KEY + "]");
        });

        assertThat(rig.call("GET", KEY)).isEqualTo(value);
    }

    @Test
    void holdsAreRenewedListedAndReleasedWhateverIsThere() {
        Grant grant = Rig.hold(store, "a");
        set("hello");

        assertThat(Rig.renew(store, grant)).isEqualTo(Verdict.HELD);
        assertThat(Rig.get(store.list(""))).singleElement().matches(listed -> listed.isHeld());
        assertThat(Rig.release(store, grant)).isTrue();
    }

    /** On a server that keeps its data now and then. */
    @Test
    @Tag("thorough")
    void theDataOfBeforeLeadsToNoLowerNumber() {
        Rig.release(store, Rig.hold(store, "a"));
        rig.call("SAVE");
        Grant forgotten = Rig.hold(store, "a");
        Rig.release(store, forgotten);

        rig.server.process().kill();
        rig.server.process().restart();

        Rig.until("the server to answer", () -> Rig.get(store.status("a").handle((said, failure) -> failure == null)));
        assertThat(Long.parseLong(rig.call("GET", KEY))).as("the fault bites").isLessThan(forgotten.number());
        assertThat(Rig.hold(rig.open(), "a").number()).isGreaterThan(forgotten.number());
    }

    private void set(String value) {
        rig.call("SET", KEY, value);
    }
}
