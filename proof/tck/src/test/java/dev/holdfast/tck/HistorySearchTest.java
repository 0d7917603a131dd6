package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;
import dev.holdfast.tck.History.Belief;
import dev.holdfast.tck.History.Ending;
import dev.holdfast.tck.History.Held;
import dev.holdfast.tck.History.Rule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The judge, which sorts, beside one that tries everything, on small random histories. */
class HistorySearchTest {
    private static final int HISTORIES = 20_000;
    private static final int MOST_HOLDS = 4;
    private static final int STAMPS = 5;
    private static final int TIMES = STAMPS * MOST_HOLDS;
    private static final int TOKENS = 6;

    private static final List<Mode> LOCKS = List.of(Mode.EXCLUSIVE, Mode.SHARED);
    private static final List<Mode> PERMITS = List.of(new Permits(1, 3), new Permits(2, 3));
    private static final List<Ending> ENDINGS = List.of(Ending.CLOSED, Ending.CLOSED, Ending.LOST, Ending.UNKNOWN);

    private final Random random = new Random(1);

    @Test
    void theJudgeFindsABrokenExclusionExactlyWhereLookingAtEveryMomentDoes() {
        int broken = 0;
        for (int i = 0; i < HISTORIES; i++) {
            List<Held> holds = holds(random.nextBoolean() ? LOCKS : PERMITS);
            boolean expected = LongStream.range(0, TIMES).anyMatch(moment -> isCrowded(holds, moment));
            assertThat(finds(holds, Rule.EXCLUSION)).as("%s", holds).isEqualTo(expected);
            broken += expected ? 1 : 0;
        }
        assertThat(broken).isBetween(HISTORIES / 10, HISTORIES * 9 / 10);
    }

    @Test
    void theJudgeFindsBrokenTokensExactlyWhereNoOrderOfMomentsFits() {
        int broken = 0;
        for (int i = 0; i < HISTORIES; i++) {
            List<Held> holds = holds(List.of(Mode.EXCLUSIVE));
            holds.sort(Comparator.comparingLong(Held::token));
            boolean distinct = holds.stream().mapToLong(Held::token).distinct().count() == holds.size();
            boolean expected = !distinct || !canBeOrdered(holds, 0, Long.MIN_VALUE);
            assertThat(finds(holds, Rule.TOKENS) || finds(holds, Rule.ORDER))
                    .as("%s", holds)
                    .isEqualTo(expected);
            broken += expected ? 1 : 0;
        }
        assertThat(broken).isBetween(HISTORIES / 10, HISTORIES * 9 / 10);
    }

    private static boolean finds(List<Held> holds, Rule rule) {
        return History.of(holds).judge(Belief.VALID).stream().anyMatch(violation -> violation.rule() == rule);
    }

    private static boolean isCrowded(List<Held> holds, long moment) {
        List<Held> inside = holds.stream()
                .filter(held -> held.began() <= moment && moment <= held.validUntil())
                .toList();
        return inside.stream().anyMatch(held -> {
            if (held.mode() instanceof Permits some) {
                int out = inside.stream()
                        .mapToInt(other -> other.mode() instanceof Permits their ? their.permits() : some.of())
                        .sum();
                return out > some.of();
            }
            return inside.stream()
                    .anyMatch(other -> other != held
                            && !(held.mode() instanceof Mode.Shared && other.mode() instanceof Mode.Shared));
        });
    }

    /** Tries every moment for each beginning and end, in the order of the tokens. */
    private static boolean canBeOrdered(List<Held> holds, int next, long after) {
        if (next == holds.size()) {
            return true;
        }
        Held held = holds.get(next);
        for (long begin = Math.max(after, held.asked()); begin <= held.began(); begin++) {
            if (held.ending() != Ending.CLOSED) {
                if (canBeOrdered(holds, next + 1, begin)) {
                    return true;
                }
                continue;
            }
            for (long end = Math.max(begin, held.leaving()); end <= held.left(); end++) {
                if (canBeOrdered(holds, next + 1, end)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** All stamps are different: what two clocks read at once proves no order. */
    private List<Held> holds(List<Mode> modes) {
        List<Long> stamps = new ArrayList<>(LongStream.range(0, TIMES).boxed().toList());
        Collections.shuffle(stamps, random);
        List<Held> holds = new ArrayList<>();
        int count = 1 + random.nextInt(MOST_HOLDS);
        for (int i = 0; i < count; i++) {
            // early ones and late ones: else nearly all would be beside each other
            int reach = STAMPS * (1 + random.nextInt(MOST_HOLDS));
            List<Long> times = new ArrayList<>(stamps.subList(Math.max(0, stamps.size() - reach), stamps.size()));
            Collections.sort(times);
            int first = random.nextInt(times.size() - STAMPS + 1);
            times = List.copyOf(times.subList(first, first + STAMPS));
            stamps.removeAll(times);
            holds.add(new Held(
                    "worker " + i,
                    modes.get(random.nextInt(modes.size())),
                    1 + random.nextInt(TOKENS),
                    times.get(0),
                    times.get(1),
                    times.get(2),
                    times.get(3),
                    times.get(4),
                    ENDINGS.get(random.nextInt(ENDINGS.size()))));
        }
        return holds;
    }
}
