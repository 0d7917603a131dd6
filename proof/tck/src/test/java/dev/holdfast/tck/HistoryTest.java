package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;
import dev.holdfast.tck.History.Ending;
import dev.holdfast.tck.History.Held;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HistoryTest {
    private static final int MANY = 2_000;

    @Test
    void nothingIsFoundInAnEmptyHistory() {
        assertThat(History.of(List.of()).violations()).isEmpty();
    }

    @Test
    void nothingIsFoundWhereHoldsFollowOneAnother() {
        assertThat(History.of(clean()).violations()).isEmpty();
        assertThat(History.of(clean()).naiveOverlaps()).isEmpty();
    }

    @Test
    void nothingIsFoundWhereOnlyAcquireAndReleaseOverlap() {
        // the second had asked before the first had it, and had it before the first's close returned
        assertThat(found(closed(1, 0, 10, 20, 40), closed(2, 5, 21, 30, 35))).isEmpty();
    }

    @Test
    void twoAtOnceAreFound() {
        assertThat(found(closed(1, 0, 10, 20, 21), closed(2, 11, 19, 30, 31)))
                .filteredOn(violation -> violation.startsWith("held at once"))
                .hasSize(1);
    }

    @Test
    void twoAtOnceAreFoundThoughOthersLieBetween() {
        assertThat(found(closed(1, 0, 10, 100, 101), closed(2, 0, 20, 30, 31), closed(3, 0, 40, 50, 51)))
                .filteredOn(violation -> violation.startsWith("held at once"))
                .hasSize(2);
    }

    @Test
    void aLostHoldCountsUntilItsHolderLastLooked() {
        Held stopped = new Held("a", Mode.EXCLUSIVE, 1, 0, 10, 15, 90, 91, Ending.LOST);
        assertThat(found(stopped, closed(2, 11, 20, 30, 31))).isEmpty();
        assertThat(History.of(List.of(stopped, closed(2, 11, 20, 30, 31))).naiveOverlaps())
                .hasSize(1);

        Held blind = new Held("a", Mode.EXCLUSIVE, 1, 0, 10, 25, 90, 91, Ending.LOST);
        assertThat(found(blind, closed(2, 11, 20, 30, 31))).hasSize(1);
    }

    @Test
    void aKilledHolderCountsUntilItLastLooked() {
        Held killed = new Held("a", Mode.EXCLUSIVE, 1, 0, 10, 15, 0, 0, Ending.UNKNOWN);
        assertThat(found(killed, closed(2, 11, 20, 30, 31))).isEmpty();
        assertThat(found(killed, closed(2, 11, 14, 30, 31))).hasSize(1);
    }

    @Test
    void theSameTokenTwiceIsFound() {
        assertThat(found(closed(7, 0, 10, 20, 21), closed(7, 30, 31, 40, 41)))
                .anyMatch(violation -> violation.startsWith("the same token"));
    }

    @Test
    void aTokenThatFallsIsFound() {
        assertThat(found(closed(2, 0, 10, 20, 21), closed(1, 30, 31, 40, 41)))
                .anyMatch(violation -> violation.startsWith("began before"));
    }

    @Test
    void aTokenThatFallsAfterALostHoldIsFound() {
        Held lost = new Held("a", Mode.EXCLUSIVE, 9, 0, 10, 15, 90, 91, Ending.LOST);
        assertThat(found(lost, closed(8, 20, 31, 40, 41))).isNotEmpty();
    }

    @Test
    void readersMayBeInsideTogetherAndNeverBesideAWriter() {
        Held reader = held(Mode.SHARED, 1, 0, 10, 30, 31);
        assertThat(found(reader, held(Mode.SHARED, 1, 0, 10, 30, 31))).isEmpty();
        assertThat(found(reader, held(Mode.SHARED, 2, 5, 15, 20, 21), closed(3, 6, 31, 40, 41)))
                .isEmpty();
        assertThat(found(reader, held(Mode.SHARED, 2, 5, 12, 15, 16), closed(3, 6, 29, 40, 41)))
                .filteredOn(violation -> violation.startsWith("held at once"))
                .hasSize(1);
        assertThat(found(closed(1, 0, 10, 20, 21), held(Mode.SHARED, 2, 5, 19, 30, 31)))
                .isNotEmpty();
    }

    @Test
    void aTokenThatFallsBetweenReadersAndWritersIsFoundAndAmongReadersIsNone() {
        assertThat(found(held(Mode.SHARED, 5, 0, 10, 20, 21), closed(4, 30, 31, 40, 41)))
                .hasSize(1);
        assertThat(found(closed(5, 0, 10, 20, 21), held(Mode.SHARED, 4, 30, 31, 40, 41)))
                .hasSize(1);
        assertThat(found(held(Mode.SHARED, 5, 0, 10, 20, 21), held(Mode.SHARED, 4, 30, 31, 40, 41)))
                .isEmpty();
        assertThat(found(held(Mode.SHARED, 5, 0, 10, 20, 21), closed(5, 30, 31, 40, 41)))
                .anyMatch(violation -> violation.startsWith("the same token"));
    }

    @Test
    void permitsAreCounted() {
        Held two = held(new Permits(2, 3), 1, 0, 10, 30, 31);
        assertThat(found(two, held(new Permits(1, 3), 2, 0, 11, 29, 31))).isEmpty();
        assertThat(found(two, held(new Permits(2, 3), 2, 0, 11, 29, 31))).hasSize(1);
        assertThat(found(two, held(new Permits(1, 3), 1, 0, 11, 29, 31)))
                .anyMatch(violation -> violation.startsWith("the same token"));
        assertThat(found(two, closed(2, 0, 11, 29, 31))).isNotEmpty();
    }

    @Test
    void eachSeededViolationIsFoundAmongMany() {
        Random random = new Random(42);
        for (int i = 0; i < 50; i++) {
            List<Held> holds = new ArrayList<>(clean());
            int at = 1 + random.nextInt(MANY - 1);
            Held held = holds.get(at);
            boolean early = random.nextBoolean();
            // one began before the one before it left, or has the token of an earlier one, plus or minus nothing
            holds.set(
                    at,
                    early
                            ? closed(held.token(), held.asked(), held.asked() - 3, held.leaving(), held.left())
                            : closed(
                                    holds.get(at - 1).token() - 1,
                                    held.asked(),
                                    held.began(),
                                    held.leaving(),
                                    held.left()));
            Collections.shuffle(holds, random);
            assertThat(History.of(holds).violations())
                    .as("seeded at %d, %s", at, early)
                    .isNotEmpty();
        }
    }

    /** Each begins 2 after the one before it left, and asked at that moment. */
    private static List<Held> clean() {
        List<Held> holds = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            long start = 10L * i;
            holds.add(closed(3L * i, start, start + 2, start + 8, start + 9));
        }
        return holds;
    }

    private static List<String> found(Held... holds) {
        return History.of(List.of(holds)).violations();
    }

    private static Held closed(long token, long asked, long began, long leaving, long left) {
        return held(Mode.EXCLUSIVE, token, asked, began, leaving, left);
    }

    private static Held held(Mode mode, long token, long asked, long began, long leaving, long left) {
        return new Held("a", mode, token, asked, began, began, leaving, left, Ending.CLOSED);
    }
}
