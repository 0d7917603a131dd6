package dev.holdfast.challenge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.challenge.history.TurnFile;
import dev.holdfast.challenge.lock.Locks;
import dev.holdfast.challenge.workload.Workloads;
import dev.holdfast.spi.Mode;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Worker 1 holds since 20, and something is done to it at 30. */
class LaneTest {
    private static final int VICTIM = 1;
    private static final int OTHER = 2;
    private static final long SINCE = 30;

    @TempDir
    private Path folder;

    private final Lane lane = new Lane(0, "lock", Locks.of("holdfast", "redis"), Workloads.of("shared"), true);
    private TurnFile victim;
    private TurnFile other;

    @BeforeEach
    void open() {
        victim = opened(VICTIM);
        other = opened(OTHER);
    }

    @Test
    void whatAReaderHeldIsTakenByAWriterAlone() {
        hold(victim, Mode.SHARED, 10);
        hold(other, Mode.SHARED, 40);
        assertThat(lane.isTakenFrom(VICTIM, SINCE)).isFalse();
        hold(other, Mode.EXCLUSIVE, 50);
        assertThat(lane.isTakenFrom(VICTIM, SINCE)).isTrue();
    }

    @Test
    void whatAWriterHeldIsTakenByAReader() {
        hold(victim, Mode.EXCLUSIVE, 10);
        assertThat(lane.isTakenFrom(VICTIM, SINCE)).isFalse();
        hold(other, Mode.SHARED, 40);
        assertThat(lane.isTakenFrom(VICTIM, SINCE)).isTrue();
    }

    private TurnFile opened(int worker) {
        TurnFile file = new TurnFile(folder.resolve("worker-" + worker), worker);
        lane.opened(worker, file);
        return file;
    }

    private static void hold(TurnFile file, Mode mode, long asked) {
        file.ask(asked);
        file.begin(mode, asked, 0, asked + 10);
    }
}
