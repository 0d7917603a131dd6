package dev.holdfast.sqlite;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChangePollerTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        // microseconds since a queue has moved, claims ahead, microseconds to pause
        "0, 0, 100",
        "500, 0, 125",
        "1000, 0, 250",
        "2000, 0, 500",
        "8000, 0, 2000",
        "9000, 0, 2000",
        "0, 1, 500",
        "8000, 1, 4000",
        "8000, 2, 8000",
        "8000, 400, 8000",
        "8000, 2147483647, 8000",
        "2000000, 0, 2000",
        "10000000, 0, 10000",
        "10000000, 7, 10000",
        "86400000000, 0, 20000"
    })
    void whoIsNextListensClosestAndQuietMakesPausesLonger(long since, int ahead, long pause) {
        assertThat(ChangePoller.pause(since * 1000, ahead)).isEqualTo(pause * 1000);
    }

    @Test
    void itHearsOfCommitsByOthersAndByItsOwnProcess() {
        try (Rig rig = new Rig(folder);
                SqliteStore store = rig.open();
                ChangePoller changes = rig.database().watch(new BusyTimeout(ofSeconds(10)))) {
            assertThat(changes.await(0, Long.MAX_VALUE)).as("at first").isTrue();
            assertThat(changes.await(0, Long.MAX_VALUE)).as("nothing").isFalse();

            Rig.hold(store, "order:42");
            assertThat(changes.await(0, Long.MAX_VALUE))
                    .as("another connection")
                    .isTrue();
            assertThat(changes.await(0, Long.MAX_VALUE)).isFalse();

            assertThat(Rig.attempt(store, "order:42")).isEmpty();
            assertThat(changes.await(0, Long.MAX_VALUE))
                    .as("a failed try writes nothing")
                    .isFalse();
        }
    }

    @Test
    void afterAQueueHasMovedAPauseIsShort() {
        onceQuiet((store, changes) -> {
            assertThat(someAreShort(() -> {
                        changes.queueMoved();
                        changes.await(2, Long.MAX_VALUE);
                    }))
                    .as("without a move it would be 8 ms")
                    .isTrue();
        });
    }

    @Test
    void otherLocksThatChangeAllTheTimeDoNotMakePausesShort() {
        onceQuiet((store, changes) -> {
            long paused = 0;
            for (int i = 0; i < 10; i++) {
                Rig.hold(store, "another:" + i);
                paused += tookBy(() -> changes.await(2, Long.MAX_VALUE));
            }
            assertThat(Duration.ofNanos(paused))
                    .as("10 pauses of 8 ms each; after a move they would take 6")
                    .isGreaterThan(ofMillis(50));
        });
    }

    @Test
    void itPausesNoLongerThanUntilSomethingIsDue() {
        onceQuiet((store, changes) -> assertThat(someAreShort(() -> changes.await(7, 0)))
                .as("a pause would be 8 ms")
                .isTrue());
    }

    @Test
    void aLookAtANameNobodyKnowsTellsToEnterAgain() {
        try (Rig rig = new Rig(folder);
                SqliteStore store = rig.open();
                ChangePoller changes = rig.database().watch(new BusyTimeout(ofSeconds(10)))) {
            assertThat(store.description()).isNotEmpty();
            assertThat(changes.poll(Rig.claim("unknown"), 1)).isEqualTo(ChangePoller.Turn.LOST);
        }
    }

    /** Once pauses are as long as they get for those who have two claims before them. */
    private void onceQuiet(BiConsumer<SqliteStore, ChangePoller> test) {
        try (Rig rig = new Rig(folder)) {
            SqliteDatabase database = rig.database();
            try (SqliteStore store = SqliteStore.open(database, rig.time);
                    ChangePoller changes = database.watch(new BusyTimeout(ofSeconds(10)))) {
                long end = System.nanoTime() + ofMillis(20).toNanos();
                while (System.nanoTime() - end < 0) {
                    changes.await(2, Long.MAX_VALUE);
                }
                test.accept(store, changes);
            }
        }
    }

    /** Whether any pause is shorter than 5 ms: a busy machine makes pauses longer, and none shorter. */
    private static boolean someAreShort(Runnable pausing) {
        for (int i = 0; i < 1_000; i++) {
            if (tookBy(pausing) < ofMillis(5).toNanos()) {
                return true;
            }
        }
        return false;
    }

    private static long tookBy(Runnable pausing) {
        long begun = System.nanoTime();
        pausing.run();
        return System.nanoTime() - begun;
    }
}
