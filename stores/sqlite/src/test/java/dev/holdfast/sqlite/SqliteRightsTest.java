package dev.holdfast.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.LockClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A new file of locks is its owner's alone from the first moment on. */
class SqliteRightsTest {
    private static final int FILES = 20;

    @TempDir
    Path folder;

    @Test
    void nobodyElseEverMayReadANewFile() throws Exception {
        assumeTrue(folder.getFileSystem().supportedFileAttributeViews().contains("posix"), "no rights of POSIX here");
        for (int i = 0; i < FILES; i++) {
            Path file = folder.resolve("locks" + i + ".db");
            CompletableFuture<Set<String>> seen = CompletableFuture.supplyAsync(() -> watch(file));
            try (LockClient client = LockClient.connect("sqlite:" + file)) {
                client.lock("job").acquire().close();
            }
            Files.createFile(stop(file));

            assertThat(seen.join()).containsExactly("rw-------");
        }
    }

    private static Path stop(Path file) {
        return file.resolveSibling(file.getFileName() + ".seen");
    }

    /** Every set of rights that it ever has. */
    private static Set<String> watch(Path file) {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        boolean last = false;
        while (!last) {
            last = Files.exists(stop(file));
            try {
                seen.add(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            } catch (NoSuchFileException e) {
                Thread.onSpinWait();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
        return seen;
    }
}
