package dev.holdfast.challenge;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.challenge.fault.Fault;
import dev.holdfast.challenge.fault.Faults;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.lock.Locks;
import dev.holdfast.challenge.store.StoreKind;
import dev.holdfast.challenge.workload.Workloads;
import dev.holdfast.spi.Mode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A heat that is made again by its seed. */
@Tag("thorough")
class SeedTest {
    /** So many turns each worker has, as nothing is done to it. */
    private static final int TURNS = 10;

    @TempDir
    private Path folder;

    @Test
    void theWorkersChooseAgainWhatTheyChoseWhoeverWasKilledInAnEarlierHeat() throws IOException {
        Fault kill = Faults.ALL.stream()
                .filter(fault -> fault.id().equals("kill-holder"))
                .findFirst()
                .orElseThrow();
        try (Start start = new Start(StoreKind.of("sqlite"), folder, false)) {
            Set<List<Mode>> chosen = chosen(start, Faults.STEADY, 7);
            assertThat(chosen).hasSize(Crew.SIZE);
            assertThat(chosen(start, kill, 7)).hasSizeGreaterThan(0);
            assertThat(chosen(start, Faults.STEADY, 7)).isEqualTo(chosen);
            assertThat(chosen(start, Faults.STEADY, 8)).isNotEqualTo(chosen);
        }
    }

    /** The first modes in which each worker asked for a lock of readers and writers. */
    private static Set<List<Mode>> chosen(Start start, Fault fault, long seed) {
        Heat.Entry entry = new Heat.Entry(Locks.of("holdfast", "sqlite"), Workloads.of("shared"));
        List<Turn> turns = new Heat("sqlite", start, fault, List.of(entry), seed, true)
                .run(1)
                .get(0)
                .turns();
        return new HashSet<>(turns.stream()
                .filter(Turn::isHold)
                .collect(groupingBy(Turn::worker, mapping(Turn::mode, toList())))
                .values()
                .stream()
                .map(modes -> modes.subList(0, Math.min(TURNS, modes.size())))
                .toList());
    }
}
