package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** H2 locks the file itself, so one database under two paths is refused under the second. */
@Tag("thorough")
class H2SecondPathTest {
    private static final String NAME = "order:42";

    @TempDir
    Path folder;

    private Path elsewhere;

    @BeforeEach
    void makeTheFolder() throws IOException {
        elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    }

    /** Tries the lock once. */
    static final class Visitor {
        private Visitor() {}

        public static void main(String[] arguments) {
            try (LockClient client = LockClient.connect(arguments[0])) {
                System.out.println(client.lock(NAME).tryAcquire().isPresent() ? "held" : "busy");
            } catch (HoldfastException e) {
                System.out.println("refused: " + e.getMessage());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ";AUTO_SERVER=TRUE", ";FILE_LOCK=NO"})
    void aSecondNameIsRefused(String options) throws Exception {
        try (LockClient client = LockClient.connect("jdbc:h2:" + folder.resolve("locks") + options);
                Hold hold = client.lock(NAME).acquire()) {
            Files.createLink(elsewhere.resolve("locks.mv.db"), folder.resolve("locks.mv.db"));
            String url = "jdbc:h2:" + elsewhere.resolve("locks") + options;

            assertThat(visit(List.of(), url)).startsWith("refused: ").contains("already in use");
            assertThatThrownBy(() -> LockClient.connect(url)).isInstanceOf(HoldfastException.class);
            assertThat(hold.isValid()).isTrue();
        }
    }

    @Test
    void aFileThatIsMountedAloneIsRefused() throws Exception {
        try (LockClient client = LockClient.connect("jdbc:h2:" + folder.resolve("locks"));
                Hold hold = client.lock(NAME).acquire()) {
            Path mounted = Files.createFile(elsewhere.resolve("locks.mv.db"));
            List<String> mount = List.of(
                    "unshare",
                    "--mount",
                    "sh",
                    "-ec",
                    "mount --bind '" + folder.resolve("locks.mv.db") + "' '" + mounted + "'; exec \"$@\"",
                    "sh");

            assertThat(visit(mount, "jdbc:h2:" + elsewhere.resolve("locks")))
                    .startsWith("refused: ")
                    .contains("already in use");
            assertThat(hold.isValid()).isTrue();
        }
    }

    private static String visit(List<String> prefix, String url) throws Exception {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx64m", "-cp", System.getProperty("java.class.path"), Visitor.class.getName(), url));
        try (ChildProcess visitor = ChildProcess.command(command).start()) {
            return visitor.expect(line -> line.matches("held|busy|refused: .*"), Duration.ofSeconds(60));
        }
    }
}
