package dev.holdfast.challenge.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.challenge.lock.LockKind.Role;
import dev.holdfast.challenge.store.StoreKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The locks that the challenge attacks. */
class LocksTest {
    private static final Path LADDER = Path.of("../ladder/src/main/java/dev/holdfast/ladder");

    @Test
    void everyLockOfTheTextbooksIsAControl() throws IOException {
        List<String> controls = StoreKind.ALL.stream()
                .flatMap(store -> Locks.on(store.id()).stream())
                .filter(lock -> lock.role() == Role.WRONG)
                .map(lock -> lock.id().replace("-", ""))
                .toList();
        assertThat(rungs()).hasSizeGreaterThan(10).isSubsetOf(controls);
    }

    /** The classes in the packages of the stores, but for what they have in common. */
    private static List<String> rungs() throws IOException {
        try (Stream<Path> files = Files.walk(LADDER)) {
            return files.filter(file -> !file.getParent().equals(LADDER))
                    .map(file -> file.getFileName().toString())
                    .filter(name -> name.matches("\\w+(?<!Rung)\\.java"))
                    .map(name -> name.replace(".java", "").toLowerCase(Locale.ROOT))
                    .toList();
        }
    }
}
