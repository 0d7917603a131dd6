package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
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

    @AutoClose
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

    @AfterEach
    void end() {
        rig.closeStores();
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

    /** In a step of its own: half of it would stand until the lease ends. */
    @ParameterizedTest
    @ValueSource(strings = {"hello", "9007199254740991", "A LIST"})
    void aReleaseGoesThroughWhateverIsThereAndAWaiterIsTold(String value) {
        Grant writer = Rig.hold(store, "writer");
        Grant reader = Rig.hold(store, Rig.claim("reader", Mode.SHARED));
        Grant permits = Rig.hold(store, Rig.claim("permits", new Mode.Permits(2, 2)));
        RedisStore other = rig.open(rig.server.uri(), Rig.NEVER);
        List<Asked> waiting = Stream.of("writer", "reader", "permits")
                .map(name -> Rig.queue(other, name))
                .toList();
        Stream.of("writer", "reader", "permits").forEach(name -> rig.awaitHearing(1, name));
        damage(value);

        for (Grant grant : List.of(writer, reader, permits)) {
            assertThat(Rig.release(store, grant)).isTrue();
            assertThat(Rig.get(store.status(grant.name())).isHeld()).isFalse();
            assertThat(Rig.waiting(store, grant.name())).as("its place stays").isEqualTo(1);
        }

        for (int i = 0; i < waiting.size(); i++) {
            Asked waits = waiting.get(i);
            other.waiters().ask(name -> true);
            assertThatThrownBy(() -> Rig.granted(waits)).isInstanceOf(StoreRefusedException.class);
        }
        rig.call("DEL", KEY);
        waiting.forEach(waits -> assertThat(waits.answer()).isCompletedExceptionally());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void soDoesABreak(boolean now) {
        Grant writer = Rig.hold(store, "writer");
        Grant reader = Rig.hold(store, Rig.claim("reader", Mode.SHARED));
        RedisStore other = rig.open(rig.server.uri(), Rig.NEVER);
        List<Asked> waiting = List.of(Rig.queue(other, "writer"), Rig.queue(other, "reader"));
        Stream.of("writer", "reader").forEach(name -> rig.awaitHearing(1, name));
        damage("hello");

        for (Grant grant : List.of(writer, reader)) {
            assertThat(Rig.get(store.breakGrant(grant.name(), grant.number(), now)))
                    .isTrue();
            assertThat(Rig.renew(store, grant)).isEqualTo(Verdict.LOST);
        }

        rig.call("DEL", KEY);
        if (now) {
            other.waiters().ask(name -> true);
            waiting.forEach(waits -> assertThat(Rig.granted(waits).number()).isGreaterThan(reader.number()));
        }
    }

    @Test
    void soDoesADowngrade() {
        Grant writer = Rig.hold(store, "a");
        RedisStore other = rig.open(rig.server.uri(), Rig.NEVER);
        Asked reads = Asked.of(other, Rig.waiting(Rig.claim("a", Mode.SHARED)));
        rig.awaitHearing(1, "a");
        damage("hello");

        assertThat(Rig.get(store.downgrade(writer))).isTrue();

        rig.call("DEL", KEY);
        other.waiters().ask(name -> true);
        assertThat(Rig.granted(reads).number()).isGreaterThan(writer.number());
        assertThat(Rig.renew(store, writer)).isEqualTo(Verdict.HELD);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void soDoesAReleaseWhoseClaimBehindItIsRefused(boolean contended) {
        Grant grant = Rig.hold(store, "a");
        if (contended) {
            Rig.queue(rig.open(rig.server.uri(), Rig.NEVER), "a");
        }
        damage("hello");

        Exchange exchange = Exchange.of(store, grant, Rig.claim("a"));

        assertThat(Rig.get(exchange.released())).isTrue();
        assertThatThrownBy(() -> Rig.get(exchange.claimed()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining(KEY);
        assertThat(Rig.get(store.status("a")).isHeld()).isFalse();
    }

    /** Other keys of the lock that another program has overwritten. */
    @ParameterizedTest
    @ValueSource(strings = {":q", ":h", ":w"})
    void aReleaseThatCannotOfferTheLockReleasesIt(String suffix) {
        Grant grant = Rig.hold(store, "a");
        Asked waits = Asked.of(rig.open(rig.server.uri(), Rig.NEVER), Rig.waiting(Rig.claim("a", Mode.SHARED)));
        rig.awaitHearing(1, "a");
        rig.call("DEL", "holdfast:{a}" + suffix);
        rig.call("SET", "holdfast:{a}" + suffix, "x");

        assertThat(Rig.release(store, grant)).isTrue();

        assertThat(Rig.renew(store, grant)).isEqualTo(Verdict.LOST);
        assertThat(waits.answer()).isNotDone();
    }

    @Test
    void aClaimThatIsRefusedWritesNothing() {
        Rig.release(store, Rig.hold(store, "a"));
        Grant grant = Rig.hold(store, "a");
        Asked first = Rig.queue(rig.open(rig.server.uri(), Rig.NEVER), "a");
        rig.awaitHearing(1, "a");
        damage("hello");
        Rig.release(store, grant);
        String before = everything();

        for (Mode mode : List.of(Mode.EXCLUSIVE, Mode.SHARED, new Mode.Permits(1, 2))) {
            assertThatThrownBy(() -> Rig.get(
                            Asked.of(store, Rig.waiting(Rig.claim("a", mode))).answer()))
                    .isInstanceOf(StoreRefusedException.class);
        }

        assertThat(everything()).isEqualTo(before);
        assertThat(first.answer()).isNotDone();
    }

    @Test
    void aUserWhoMayNotGrantMayRelease() {
        Rights.give(rig.server, "locks", Rights.onThePage());
        RedisStore limited = rig.open("redis://locks:pw@127.0.0.1:" + rig.server.port());
        Grant grant = Rig.hold(limited, "a");
        Asked waits = Rig.queue(rig.open(rig.server.uri(), Rig.NEVER), "a");
        rig.call("ACL", "SETUSER", "locks", "-zrem");

        assertThat(Rig.release(limited, grant)).isTrue();

        assertThat(Rig.granted(waits)).as("by a claim of its own").isNotNull();
    }

    @Test
    void moreThanTenYearsAheadItIsRefusedAndClaimsGoOnOnceItIsRemoved() {
        Grant before = Rig.hold(store, "other");
        Rig.release(store, before);
        long decade = TimeUnit.DAYS.toMicros(3652);
        set(Long.toString(before.number() + decade - HOUR));
        assertThat(Rig.hold(rig.open(), "b").number()).as("it is counted on").isGreaterThan(before.number() + HOUR);

        set(Long.toString(before.number() + decade + 24 * HOUR));
        claims().forEach(claim -> assertThatThrownBy(
                        () -> Rig.get(Asked.of(store, claim).answer()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("ten years ahead of its clock")
                .hasMessageContaining("remove the key " + KEY));
        assertThat(rig.call("GET", KEY)).isEqualTo(Long.toString(before.number() + decade + 24 * HOUR));

        rig.call("DEL", KEY);
        assertThat(Rig.hold(store, "a").number()).isBetween(before.number(), before.number() + HOUR);
    }

    @Test
    void aFloorMoreThanTenYearsAheadIsRefusedAndSeenByNobodyElse() {
        long far = Rig.hold(store, "other").number() + TimeUnit.DAYS.toMicros(3660);

        claims().forEach(claim -> assertThatThrownBy(
                        () -> Rig.get(Asked.of(store, Rig.above(claim, far)).answer()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("gave this client")
                .hasMessageContaining("ten years"));

        assertThat(Rig.hold(rig.open(), "a").number()).isLessThan(far);
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

    private void damage(String value) {
        rig.call("DEL", KEY);
        if (value.equals("A LIST")) {
            rig.call("RPUSH", KEY, "x");
        } else {
            set(value);
        }
    }

    private String everything() {
        return rig.call("GET", KEY)
                + rig.call("KEYS", "*")
                + rig.call("GET", "holdfast:{a}")
                + rig.call("ZRANGE", Rig.queue("a"), "0", "-1", "WITHSCORES");
    }
}
