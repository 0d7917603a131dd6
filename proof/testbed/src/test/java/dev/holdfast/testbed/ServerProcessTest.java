package dev.holdfast.testbed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** On shell scripts that behave like servers; a real one is started by {@link RedisServerTest}. */
class ServerProcessTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void itRunsInAPrivateFolderThatIsDeletedWithIt() {
        ServerProcess server = script("pwd -P; echo up; exec sleep 300").start();
        Path folder = server.home().folder();
        assertThat(server.log().lines())
                .first()
                .asString()
                .endsWith(folder.getFileName().toString());
        assertThat(server.isAlive()).isTrue();
        server.close();
        assertThat(server.isAlive()).isFalse();
        assertThat(Files.exists(folder)).isFalse();
        server.close();
    }

    @Test
    void eachOfItsPortsIsItsOwn() {
        try (ServerProcess server = script("echo up; exec sleep 300").ports(3).start()) {
            assertThat(server.home().ports()).hasSize(3).doesNotHaveDuplicates();
            assertThat(server.port()).isEqualTo(server.home().port(0));
        }
    }

    @Test
    @Tag("thorough")
    void aServerWhoseChildrenComeAndGoIsStoppedWithAllOfThem() {
        String busy = "(while :; do sleep 0.001; done) & ";
        try (ServerProcess server =
                script("echo up; " + busy.repeat(4) + "wait").start()) {
            for (int i = 0; i < 10; i++) {
                server.stop();
                server.cont();
            }
        }
    }

    @Test
    void aServerThatEndsBeforeItIsReadyFailsWithItsLog() {
        AtomicReference<Path> folder = new AtomicReference<>();
        assertThatThrownBy(() -> script("echo no such option >&2; exit 7")
                        .prepare(home -> folder.set(home.folder()))
                        .patience(Duration.ofHours(1))
                        .start())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("ended with 7")
                .hasMessageContaining("no such option");
        assertThat(Files.exists(folder.get())).isFalse();
    }

    @Test
    void aServerThatIsNotReadyInTimeFailsWithItsLogAndIsKilled() {
        Residue residue = Residue.watch().children().begin();
        assertThatThrownBy(() -> script("echo still thinking; exec sleep 300")
                        .patience(Duration.ofMillis(100))
                        .start())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("not ready within PT0.1S")
                .hasMessageContaining("still thinking");
        residue.assertNothingLeft(SOON);
    }

    @Test
    void aCommandThatIsNotThereSaysSoAndLeavesNoFolder() {
        AtomicReference<Path> folder = new AtomicReference<>();
        assertThatThrownBy(() -> ServerProcess.named("ghost")
                        .command(home -> List.of("/nowhere/ghost"))
                        .prepare(home -> folder.set(home.folder()))
                        .start())
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("/nowhere/ghost");
        assertThat(Files.exists(folder.get())).isFalse();
    }

    @Test
    void itIsReadyWhenItsPortAccepts() {
        String javaCommand =
                Path.of(System.getProperty("java.home"), "bin", "java").toString();
        try (ServerProcess server = ServerProcess.named("echo")
                        .command(home -> List.of(
                                javaCommand,
                                "-cp",
                                System.getProperty("java.class.path"),
                                Programs.Listener.class.getName(),
                                Integer.toString(home.port())))
                        .start();
                TcpProxy proxy = TcpProxy.to(server.port())) {
            assertThat(server.isAlive()).isTrue();
            assertThat(proxy.connections().open()).isZero();
        }
    }

    @Test
    void aRestartUsesTheSameFolderAndPortsAndOnlyTheNewPartOfTheLog() throws IOException {
        List<Integer> ports = new ArrayList<>();
        // Ready at the second start only once "up" is there a second time: the one of the first must not count.
        String script = "cat kept 2>/dev/null; echo first > kept; echo up; exec sleep 300";
        try (ServerProcess server = script(script)
                .prepare(home -> ports.add(home.port()))
                .environment("GREETING", "hello")
                .start()) {
            long firstPid = server.pid();
            assertThat(server.log()).isEqualTo("up\n");
            server.restart();
            assertThat(server.pid()).isNotEqualTo(firstPid);
            assertThat(ProcessStates.of(firstPid)).isSubsetOf('Z', 'X');
            assertThat(server.log()).isEqualTo("up\nfirst\nup\n");
            assertThat(ports).as("prepared once").containsExactly(server.port());
            assertThat(Files.readString(server.home().folder().resolve("kept"))).isEqualTo("first\n");
        }
    }

    @Test
    void signalsReachTheChildrenOfTheServerToo() throws IOException {
        String script = "sleep 300 & echo $! > worker; echo up; wait";
        try (ServerProcess server = script(script).start()) {
            long worker = Long.parseLong(
                    Files.readString(server.home().folder().resolve("worker")).strip());
            server.stop();
            assertThat(ProcessStates.of(worker)).containsExactly('T');
            assertThat(ProcessStates.of(server.pid())).containsExactly('T');
            server.cont();
            assertThat(ProcessStates.of(worker)).doesNotContain('T').isNotEmpty();
            server.kill();
            assertThat(ProcessStates.of(worker)).isSubsetOf('Z', 'X');
            assertThat(server.waitFor(SOON)).isEqualTo(128 + 9);
        }
    }

    @Test
    void aTerminatedServerEndsInItsOwnWay() {
        String script = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done";
        try (ServerProcess server = script(script).start()) {
            server.terminate();
            assertThat(server.waitFor(SOON)).isZero();
            assertThat(server.log()).isEqualTo("up\nbye\n");
        }
    }

    @Test
    void whatItNeedsOnTheProcessorIsKnown() {
        try (ServerProcess server = script("echo up; while :; do :; done").start()) {
            assertThat(Await.until(SOON, () -> server.cpuTime().toMillis() > 50))
                    .isTrue();
        }
    }

    private static ServerProcess.Builder script(String script) {
        return ServerProcess.named("script")
                .command(home -> List.of("sh", "-c", script))
                .readyWhenLogContains("up\n")
                .patience(SOON);
    }
}
