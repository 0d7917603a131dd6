package dev.holdfast.testbed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OriginalsTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir
    Path kept;

    @Test
    void oneOfSeveralJvmsThatAskAtTheSameTimeMakesTheFolder() throws Exception {
        List<ChildProcess> jvms = Stream.generate(
                        () -> ChildJvm.main(Maker.class).args(kept.toString()).start())
                .limit(3)
                .toList();
        try {
            jvms.forEach(jvm -> jvm.expect("has it", PATIENCE));
        } finally {
            jvms.forEach(ChildProcess::close);
        }

        assertThat(kept.resolve("made")).hasContent("once\n");
    }

    @Test
    void aFolderThatWasNotFinishedIsMadeAgain() {
        assertThatThrownBy(() -> Originals.folder(kept.toString(), "original", folder -> {
                    Folders.touch(folder.resolve("half"));
                    throw new IllegalStateException("half-way");
                }))
                .hasMessage("half-way");

        Path made = Originals.folder(kept.toString(), "original", folder -> Folders.touch(folder.resolve("whole")));

        assertThat(made).isDirectoryContaining("glob:**/whole").isDirectoryNotContaining("glob:**/half");
    }

    @Test
    void withoutAFolderToKeepThemInEachIsMadeAnewAndInTheTemporaryFolder() {
        Path one = Originals.folder(null, "original", folder -> {});
        Path two = Originals.folder(null, "original", folder -> {});

        assertThat(one).isNotEqualTo(two).isEmptyDirectory();
        assertThat(one.getParent()).isEqualTo(Path.of(System.getProperty("java.io.tmpdir")));
    }

    /** Takes its time, so that the others ask meanwhile. */
    static final class Maker {
        private Maker() {}

        public static void main(String[] arguments) {
            Path kept = Path.of(arguments[0]);
            Originals.folder(kept.toString(), "original", folder -> {
                LockSupport.parkNanos(Duration.ofMillis(300).toNanos());
                append(kept.resolve("made"));
            });
            System.out.println(Files.isDirectory(kept.resolve("original")) ? "has it" : "is without");
        }

        private static void append(Path file) {
            try {
                Files.writeString(file, "once\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
