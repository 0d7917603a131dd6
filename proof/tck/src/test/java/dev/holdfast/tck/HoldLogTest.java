package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.Mode;
import dev.holdfast.tck.History.Ending;
import dev.holdfast.tck.History.Held;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HoldLogTest {
    @Test
    void holdsAreReadAsTheyWereWritten(@TempDir Path folder) throws IOException {
        Path path = folder.resolve("a.log");
        try (HoldLog log = new HoldLog(path)) {
            log.held(1, Mode.EXCLUSIVE, 7, 10, 11);
            log.valid(1, 12);
            log.valid(1, 13);
            log.closed(1, 14, 15);
            log.held(2, Mode.SHARED, 8, 20, 21);
            log.lost(2, 24, 25);
            log.held(3, new Mode.Permits(2, 3), 8, 30, 31);
            log.valid(3, 32);
        }
        Files.writeString(path, "valid 3 3", StandardOpenOption.APPEND); // torn by a kill

        assertThat(HoldLog.read(path))
                .containsExactly(
                        new Held("a.log", Mode.EXCLUSIVE, 7, 10, 11, 13, 14, 15, Ending.CLOSED),
                        new Held("a.log", Mode.SHARED, 8, 20, 21, 21, 24, 25, Ending.LOST),
                        new Held("a.log", new Mode.Permits(2, 3), 8, 30, 31, 32, 0, 0, Ending.UNKNOWN));
    }

    @Test
    void aMissingLogHasNoHolds(@TempDir Path folder) throws IOException {
        assertThat(HoldLog.read(folder.resolve("none"))).isEmpty();
    }

    @Test
    void aHoldThatBeginsTwiceIsAFailure(@TempDir Path folder) throws IOException {
        Path path = folder.resolve("a.log");
        try (HoldLog log = new HoldLog(path)) {
            log.held(1, Mode.EXCLUSIVE, 7, 10, 11);
            log.held(1, Mode.EXCLUSIVE, 8, 20, 21);
        }
        assertThatThrownBy(() -> HoldLog.read(path)).isInstanceOf(AssertionError.class);
    }
}
