package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Grant;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The scripts of the common case, which do arithmetic on texts of digits: a free lock is claimed, and released. */
class FreeClaimTest {
    @AutoClose
    private Rig rig;

    private RedisStore store;

    @BeforeEach
    void start() {
        rig = new Rig();
        store = rig.open();
    }

    @Test
    void aNumberIsTheServersTimeInMicrosecondsAlsoWhereThoseAreFewerThanSixDigits() {
        int names = 300; // one time in ten has a zero in front of its microseconds
        for (int i = 0; i < names; i++) {
            long before = micros();
            long number = Rig.hold(store, "name" + i).number();
            assertThat(number).isBetween(before, micros());
        }
    }

    @Test
    void aNumberIsAboveTheLastOneAndTheFloorThoughBothAreAheadOfTheTime() {
        long ahead = micros() + 3_600_000_000L;
        Grant first = Rig.hold(store, Rig.above(Rig.claim("a"), ahead));
        assertThat(first.number()).isEqualTo(ahead + 1);
        Rig.release(store, first);

        Grant second = Rig.hold(store, Rig.above(Rig.claim("a"), ahead - 1000));
        assertThat(second.number()).as("the last is higher").isEqualTo(ahead + 2);
        Rig.release(store, second);

        Grant third = Rig.hold(store, Rig.above(Rig.claim("a"), ahead + 1000));
        assertThat(third.number()).as("the floor is higher").isEqualTo(ahead + 1001);
    }

    @Test
    void aReleasedLockLeavesNoKeyOfItsOwn() {
        Rig.release(store, Rig.hold(store, "a"));

        assertThat(rig.call("KEYS", "*")).isEqualTo("[holdfast:number]");
    }

    @Test
    void soDoesOneWhoseLeaseHasEnded() {
        Rig.hold(store, Rig.claim("a", Duration.ofMillis(200)));

        Rig.until("its key to go", () -> rig.call("KEYS", "*").equals("[holdfast:number]"));
    }

    /** The server's time. */
    private long micros() {
        String[] time = rig.call("TIME").split("\\D+"); // as in [1700000000, 123456]
        return Long.parseLong(time[1]) * 1_000_000 + Long.parseLong(time[2]);
    }
}
