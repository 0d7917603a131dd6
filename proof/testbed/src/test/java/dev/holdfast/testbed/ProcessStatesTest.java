package dev.holdfast.testbed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ProcessStatesTest {
    @Test
    void psTellsAStoppedProcessFromOneThatSleeps() throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/bin/ps")) || Files.isExecutable(Path.of("/usr/bin/ps")), "no ps here");
        try (ChildProcess child = ChildProcess.command("sleep", "300").start()) {
            child.stop();
            assertThat(ProcessStates.fromPs(child.pid())).containsExactly('T');
            child.cont();
            assertThat(ProcessStates.fromPs(child.pid())).doesNotContain('T').isNotEmpty();
            child.kill();
            assertThat(ProcessStates.fromPs(child.pid())).isEmpty();
        }
    }

    @Test
    void procTellsAStoppedProcessFromOneThatSleeps() throws IOException {
        assumeTrue(Files.exists(Path.of("/proc/self/stat")), "no /proc here");
        try (ChildProcess child = ChildProcess.command("sleep", "300").start()) {
            child.stop();
            assertThat(ProcessStates.fromProc(child.pid())).containsExactly('T');
            child.cont();
            assertThat(ProcessStates.fromProc(child.pid())).doesNotContain('T').isNotEmpty();
            child.kill();
            assertThat(ProcessStates.fromProc(child.pid())).isEmpty();
        }
    }

    @Test
    @Tag("thorough")
    void aProcessThatEndsWhileItIsAskedIsThereOrNotAndNeverAnError() {
        for (int i = 0; i < 60; i++) {
            try (ChildProcess child = ChildProcess.command("true").start()) {
                // No pause between two looks: each process dies under one of them.
                while (!ProcessStates.of(child.pid()).isEmpty()) {
                    Thread.onSpinWait();
                }
                assertThat(ProcessStates.of(child.pid())).isEmpty();
            }
        }
    }
}
