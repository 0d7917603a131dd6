package dev.holdfast.bench.longrun;

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

class LongTrialTest {
    /** A hundredth of a week, and of a year. */
    private static final int PART = 100;

    @TempDir
    private Path folder;

    @Test
    void aPageNamesWhatMayGrow() throws IOException {
        Path page = Files.writeString(folder.resolve("page.md"), """
                # A page

                | SQLite, store: rows | a table of another section |

                ## What grows

                | what | until |
                |---|---|
                | etcd, store: bytes | compaction |

                ## Another section

                | Redis, store: keys | not named either |
                """);
        assertThat(LongTrial.named(page))
                .contains("etcd, store: bytes")
                .noneMatch(what -> what.matches("SQLite.*|Redis.*"));
    }

    @Test
    @Tag("thorough")
    void daysOfLocksInAFileLeaveNothing() throws IOException {
        Path unused = orSkip(() -> Binaries.onThisMachine().findInstalled("gcc", "apt-get install gcc libc6-dev"));
        Path page = Files.writeString(
                folder.resolve("page.md"), "## What grows\n| SQLite, store: bytes | its log has 4,000 pages |\n");
        assertThat(LongTrial.run(folder, page, PART, List.of(StoreKind.SQLITE)))
                .as("nothing was lost, and nothing grew")
                .isTrue();
        assertThat(Files.readAllLines(folder.resolve("sqlite-long.tsv")))
                .contains("Long runs: a week of names used once\tclient: threads\tgrows\tno")
                .anyMatch(line -> line.matches("Long runs\tSettings\t.* \\d+ runs, \\d+ tries, 175 steps of 30 min.*"));
    }
}
