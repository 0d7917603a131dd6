package dev.holdfast.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * When the log is written back to the file, which waits for the disk: a client that did so between its release and its
 * next claim let another process take the lock hundreds of times in a row.
 */
class CheckpointTest {
    private static final int TURNS = 600;
    private static final long PAGE = 4096;

    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void place() {
        file = folder.resolve("locks.db");
    }

    @Test
    void theLogIsWrittenBackWhileTheLockIsHeldAndNotByAReleaseOrAWaiter() throws Exception {
        try (LockClient holder = LockClient.connect("sqlite:" + file);
                LockClient waiter = LockClient.connect("sqlite:" + file)) {
            DistributedLock mine =
                    holder.lock("order:42", HoldOptions.defaults().awaitRelease(true));
            DistributedLock theirs = waiter.lock("order:42");
            int writtenBack = 0;
            for (int i = 0; i < TURNS; i++) {
                FileTime before = written();
                Hold hold = mine.acquire();
                mine.status(); // behind what follows the grant
                FileTime held = written();
                writtenBack += held.equals(before) ? 0 : 1;
                CompletableFuture<Hold> waiting = theirs.acquireAsync();
                assertThat(theirs.status().waiting()).isEqualTo(1);
                waiting.cancel(true);
                theirs.status();
                hold.close();
                mine.status();
                assertThat(written()).as("after turn " + i).isEqualTo(held);
            }
            assertThat(writtenBack).as("times").isPositive();
            assertThat(Files.size(folder.resolve("locks.db-wal"))).isLessThan(4000 * PAGE);
        }
    }

    /** When the file itself was written; it is not opened, which would end the locks of this process on it. */
    private FileTime written() throws IOException {
        return Files.getLastModifiedTime(file);
    }
}
