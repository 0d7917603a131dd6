package dev.holdfast.challenge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The short challenge, in a process of its own. By its name it begins before shorter tests, as it takes longest. */
class QuickRunTest {
    /** It takes a minute on two quiet cores. */
    private static final Duration PATIENCE = Duration.ofMinutes(8);

    @TempDir
    private Path folder;

    @Test
    void aQuickRunCatchesEveryWrongLockAndFindsNothingInHoldfast() {
        assertThatAQuickRunCatches(32, "sqlite", "redis");
    }

    /** Where grants end with a session, its store's own tests prove everyday that no two hold. */
    @Test
    @Tag("thorough")
    void aQuickRunDoesSoWhereGrantsEndWithASession() {
        assertThatAQuickRunCatches(14, "zookeeper");
    }

    private void assertThatAQuickRunCatches(int wrongLocks, String... stores) {
        try (ChildProcess challenge = ChildJvm.main(Challenge.class)
                .args("--quick", "--out", folder.toString())
                .args(stores)
                .start()) {
            assertThat(challenge.waitFor(PATIENCE))
                    .as(String.join("\n", challenge.lines()))
                    .isZero();
            challenge.expect("controls: " + wrongLocks + " wrong locks caught, no alarm in the right one", PATIENCE);
            assertThat(challenge.lines()).noneMatch(line -> line.contains("NOT TESTED"));
        }
        assertThat(folder.resolve("report.html")).content().contains("<svg").doesNotContain("<script");
        assertThat(folder.resolve("results.json")).content().contains("\"verdict\":\"HELD\"");
    }
}
