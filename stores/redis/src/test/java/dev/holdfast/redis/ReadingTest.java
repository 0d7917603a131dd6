package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The stored data is the same, byte for byte, before and after status, list, and tries that fail. */
class ReadingTest {
    private static final Duration BRIEF = Duration.ofMillis(200);
    private static final Mode ONE = new Mode.Permits(1, 3);

    @AutoClose
    private final Rig rig = new Rig();

    @Test
    void permitsOfWhichSomeHaveRunOutAreReadAsTheyAre() {
        RedisStore store = rig.open();
        Rig.hold(store, Rig.claim("a", ONE));
        runsOut(store, ONE);

        assertNothingChanges(() -> {
            read(store);
            assertThat(Rig.get(Asked.of(store, Rig.claim("a", new Mode.Permits(3, 3)))
                            .answer()))
                    .isEmpty();
        });
        Rig.hold(store, Rig.claim("a", new Mode.Permits(2, 3)));
        assertThat(Rig.get(Asked.of(store, Rig.claim("a", ONE)).answer())).isEmpty();
    }

    @Test
    void readersOfWhichAllHaveRunOutAreReadAsTheyAre() {
        RedisStore store = rig.open();
        runsOut(store, Mode.SHARED);
        runsOut(store, Mode.SHARED);

        assertNothingChanges(() -> {
            assertThat(Rig.get(store.status("a")).isHeld()).isFalse();
            read(store);
        });
        Grant writer = Rig.hold(store, "a");
        assertThat(Rig.release(store, writer)).isTrue();
    }

    @Test
    void aLockThatIsHeldAndWaitedForIsReadAsItIs() {
        RedisStore store = rig.open();
        Grant grant = Rig.hold(store, Rig.claim("a", ONE));
        Asked waits = Asked.of(store, Rig.waiting(Rig.claim("a", new Mode.Permits(3, 3))));
        rig.awaitHearing(1, "a");

        assertNothingChanges(() -> {
            read(store);
            assertThat(Rig.get(Asked.of(store, Rig.claim("a", ONE)).answer())).isEmpty();
        });
        Rig.release(store, grant);
        Rig.granted(waits);
    }

    /** Sharers that are gone though the state counts them: evicted by a full server, or deleted by hand. */
    @Test
    void sharersThatAreGoneAreIgnored() {
        RedisStore store = rig.open();
        Rig.hold(store, Rig.claim("a", new Mode.Permits(3, 3)));
        rig.call("DEL", "holdfast:{a}:h");

        assertThat(Rig.get(store.status("a")).isHeld()).isFalse();
        assertThat(Rig.get(store.list(""))).isEmpty();
        Rig.granted(Asked.of(store, Rig.waiting(Rig.claim("a"))));
    }

    private static void read(RedisStore store) {
        Rig.get(store.status("a"));
        Rig.get(store.list(""));
        Rig.get(store.list("a"));
    }

    private static void runsOut(RedisStore store, Mode mode) {
        Grant brief = Rig.hold(
                store,
                new Claim(
                        ClaimId.random(),
                        "a",
                        mode,
                        BRIEF,
                        false,
                        0,
                        Rig.claim("a").holder()));
        Rig.until(
                "it to run out",
                () -> System.nanoTime() + Rig.AHEAD - brief.sentNanos()
                        > BRIEF.multipliedBy(2).toNanos());
    }

    /** No poll in between would change it: the waiter here polls once a second, and is awaited. */
    private void assertNothingChanges(Runnable reading) {
        String before = stored();
        reading.run();
        assertThat(stored()).isEqualTo(before);
    }

    /** All keys and values, but for the queue's deadlines, which its waiters move. */
    private String stored() {
        List<String> all = new ArrayList<>();
        all.add(rig.call("GET", "holdfast:{a}"));
        all.add(rig.call("ZRANGE", "holdfast:{a}:h", "0", "-1", "WITHSCORES"));
        all.add(rig.call("HGETALL", "holdfast:{a}:w"));
        all.add(rig.call("ZRANGE", "holdfast:{a}:q", "0", "-1"));
        all.add(rig.call("DBSIZE"));
        return all.toString();
    }
}
