package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holder;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What {@code top} remembers. */
class SeenHistoryTest {
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final SeenHistory seen = new SeenHistory();
    private long second;

    /** A look in which these names are held, a second after the one before. */
    private void look(IntStream names, Duration heldFor) {
        Map<String, LockStatus> locks = names.mapToObj(number -> lock("name" + number, heldFor))
                .collect(Collectors.toMap(LockStatus::name, lock -> lock));
        seen.add(
                new Snapshot(
                        locks, Map.of(), Snapshot.Waiters.NAMED, TimeUnit.SECONDS.toNanos(second++), Duration.ZERO),
                List.of());
    }

    private static LockStatus lock(String name, Duration heldFor) {
        Holder who = new Holder("host", 1, "main", "");
        return new LockStatus(name, Optional.of(new LockStatus.Held(LockMode.EXCLUSIVE, 1024, who, heldFor, LEASE)), 0);
    }

    @Test
    void aHoldOfSeveralTimesItsUsualLengthIsMarked() {
        for (int i = 0; i < 3; i++) {
            look(IntStream.of(1), Duration.ofSeconds(2));
            look(IntStream.empty(), Duration.ZERO);
        }

        assertThat(seen.isBeyondUsual(lock("name1", Duration.ofSeconds(4)))).isFalse();
        assertThat(seen.isBeyondUsual(lock("name1", Duration.ofSeconds(9)))).isTrue();
        assertThat(seen.isBeyondUsual(lock("name2", Duration.ofSeconds(9)))).isFalse();
    }

    @Test
    void onlyTheMostRecentNamesAreRemembered() {
        for (int i = 0; i < 5; i++) {
            int from = i * 5_000;
            look(IntStream.range(from, from + 5_000), Duration.ofSeconds(2));
            look(IntStream.empty(), Duration.ZERO);
        }

        assertThat(seen.names()).isEqualTo(SeenHistory.MOST_NAMES);
    }
}
