package dev.holdfast.bench.writes;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.testbed.Binaries;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short run: the counters count what the control writes, and its figures are those that are known. */
class WritesTrialTest {
    @TempDir
    private Path folder;

    @Test
    @Tag("thorough")
    void aLockInSqliteWritesTwoPagesAndARefusedTryNothing() throws IOException {
        Path unused = orSkip(() -> Binaries.onThisMachine().findInstalled("gcc", "apt-get install gcc libc6-dev"));
        assertThat(WritesTrial.run(folder, 1, List.of(StoreKind.SQLITE)))
                .as("each counter counts")
                .isTrue();
        assertThat(lines("sqlite"))
                .contains(
                        // 4,096 bytes of a page and 24 of its head, to lock and to unlock
                        "What a lock writes: lock + unlock, names used before\tholdfast\tlog bytes\t8,240",
                        "What a lock writes: a try that is refused\tholdfast\tlog bytes\t0");
        assertThat(folder.resolve("index.html")).content().contains("What a lock writes");
    }

    @Test
    @Tag("thorough")
    void aLockInRedisIsTwoScriptsAndPublishesNothing() throws IOException {
        assertThat(WritesTrial.run(folder, 1, List.of(StoreKind.REDIS)))
                .as("each counter counts")
                .isTrue();
        assertThat(lines("redis"))
                .contains(
                        "What a lock writes: lock + unlock, names used before\tholdfast\tscripts\t2",
                        "What a lock writes: lock + unlock, names used before\tholdfast\tpublished\t0",
                        "What a lock writes: lock + unlock, names used before\tRedisson\tpublished\t1",
                        "What a lock writes: a try that is refused\tholdfast\tAOF bytes\t0");
    }

    private List<String> lines(String store) throws IOException {
        return Files.readAllLines(folder.resolve(store + "-writes.tsv"));
    }
}
