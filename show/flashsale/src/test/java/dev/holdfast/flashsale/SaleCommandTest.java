package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./holdfast sale} as a process. */
@Tag("thorough")
class SaleCommandTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    @Test
    void aSaleThatIsEndedWhileItStartsLeavesNothing(@TempDir Path folder) throws IOException {
        try (ChildProcess starting = ChildJvm.main(SaleCommand.class)
                .flags("-Djava.io.tmpdir=" + folder)
                .args("--port", "0", "--nodes", "1")
                .start()) {
            ProcessHandle parent = ProcessHandle.of(starting.pid()).orElseThrow();
            await().atMost(LONG).until(() -> parent.descendants().anyMatch(SaleCommandTest::isServer));
            List<ProcessHandle> servers = parent.descendants().toList();

            starting.terminate();
            starting.waitFor(LONG);

            await().atMost(LONG).until(() -> servers.stream().noneMatch(ProcessHandle::isAlive));
            assertThat(starting.lines()).isEmpty();
            assertThat(leftIn(folder)).isEmpty();
        }
    }

    @Test
    void aStoreThatThereIsNotLeavesNothing(@TempDir Path folder) throws IOException {
        try (ChildProcess refused = ChildJvm.main(SaleCommand.class)
                .flags("-Djava.io.tmpdir=" + folder)
                .args("--port", "0", "--store", "nonsense:")
                .start()) {
            assertThat(refused.waitFor(LONG)).isEqualTo(69);
            assertThat(leftIn(folder)).isEmpty();
        }
    }

    private static boolean isServer(ProcessHandle process) {
        return process.info().commandLine().orElse("").contains("flashsale.node.Node");
    }

    private static List<String> leftIn(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("holdfast-sale-"))
                    .toList();
        }
    }

    @Test
    @Tag("thorough")
    void aSecondSaleOnThePortOfTheFirstEndsAndTheFirstLeavesNoServerBehind() {
        try (ChildProcess other = ChildJvm.main(SaleCommand.class)
                .args("--port", "0", "--nodes", "1")
                .start()) {
            String port = other.expect(Pattern.compile("The sale is open at http://127\\.0\\.0\\.1:(\\d+) .*"), LONG)
                    .group(1);
            try (ChildProcess second =
                    ChildJvm.main(SaleCommand.class).args("--port", port).start()) {
                assertThat(second.waitFor(LONG)).isEqualTo(69);
                second.stderr().expect("holdfast: port " + port + " of 127.0.0.1 is taken", LONG);
            }
            List<ProcessHandle> servers =
                    ProcessHandle.of(other.pid()).orElseThrow().descendants().toList();
            assertThat(servers).isNotEmpty();

            other.terminate();
            other.waitFor(LONG);

            await().atMost(LONG).until(() -> servers.stream().noneMatch(ProcessHandle::isAlive));
        }
    }
}
