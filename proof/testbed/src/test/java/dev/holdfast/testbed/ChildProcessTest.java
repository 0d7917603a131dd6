package dev.holdfast.testbed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildProcessTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void whatIsTypedArrivesWithoutTheEndOfALine() {
        try (ChildProcess cat = ChildProcess.command("cat").start()) {
            cat.type("half ");
            cat.type("a line");
            cat.closeInput();

            assertThat(cat.expect("half", SOON)).isEqualTo("half a line");
        }
    }

    @Test
    void linesGoInAndComeOut() {
        try (ChildProcess cat = ChildProcess.command("cat").start()) {
            cat.send("one");
            cat.send("two words");
            assertThat(cat.expect("two", SOON)).isEqualTo("two words");
            assertThat(cat.lines()).containsExactly("one", "two words");
        }
    }

    @Test
    void eachExpectLooksBehindTheOneBefore() {
        try (ChildProcess cat = ChildProcess.command("cat").start()) {
            List.of("token=1", "noise", "token=2").forEach(cat::send);
            Pattern token = Pattern.compile("token=(\\d+)");
            assertThat(cat.expect(token, SOON).group(1)).isEqualTo("1");
            assertThat(cat.expect(token, SOON).group(1)).isEqualTo("2");
            cat.send("last");
            assertThat(cat.expect(line -> line.length() == 4, SOON)).isEqualTo("last");
        }
    }

    @Test
    void aLineThatDoesNotComeFailsWithAllThatWasSaid() {
        try (ChildProcess child = ChildProcess.command("sh", "-c", "echo fine; echo broken >&2; exec cat")
                .start()) {
            child.stderr().expect("broken", SOON);
            child.send("a question");
            child.expect("a question", SOON);
            assertThatThrownBy(() -> child.expect("an answer", Duration.ofMillis(20)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("an answer")
                    .hasMessageContaining("alive")
                    .hasMessageContaining("OUT | fine")
                    .hasMessageContaining("ERR | broken")
                    .hasMessageContaining("IN | a question");
        }
    }

    @Test
    void aLineThatCanNoLongerComeFailsAtOnce() {
        try (ChildProcess child =
                ChildProcess.command("sh", "-c", "echo over; exit 3").start()) {
            // With a patience beyond any test run: it must not be used up.
            assertThatThrownBy(() -> child.expect("never", Duration.ofHours(1)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("over");
            assertThat(child.waitFor(SOON)).isEqualTo(3);
        }
    }

    @Test
    void aLastLineWithoutItsEndIsALineToo() {
        try (ChildProcess child = ChildProcess.command("printf", "half").start()) {
            assertThat(child.expect("half", SOON)).isEqualTo("half");
        }
    }

    @Test
    void argumentsKeepTheirBlanks() {
        try (ChildProcess child =
                ChildProcess.command("printf", "<%s>\\n", "a b").args(" c ", "").start()) {
            assertThat(child.waitFor(SOON)).isZero();
            assertThat(child.lines()).containsExactly("<a b>", "< c >", "<>");
        }
    }

    @Test
    void theFolderAndTheEnvironmentAreThoseAskedFor(@TempDir Path folder) throws Exception {
        String script = "pwd -P; echo $GREETING; echo ${PATH:-no path}";
        try (ChildProcess child = ChildProcess.command("/bin/sh", "-c", script)
                .directory(folder)
                .environment("GREETING", "good day")
                .withoutEnvironment("PATH")
                .start()) {
            assertThat(child.waitFor(SOON)).isZero();
            assertThat(child.lines().subList(0, 2))
                    .containsExactly(folder.toRealPath().toString(), "good day");
            // Some shells make a path of their own when there is none.
            assertThat(child.lines().get(2)).isNotEqualTo(System.getenv("PATH"));
        }
    }

    @Test
    void theEndOfInputReachesTheChild() {
        try (ChildProcess cat = ChildProcess.command("cat").start()) {
            cat.closeInput();
            assertThat(cat.waitFor(SOON)).isZero();
        }
    }

    @Test
    void aKilledChildIsGoneWhenKillReturns() {
        try (ChildProcess child = ChildProcess.command("sleep", "300").start()) {
            child.kill();
            assertThat(child.isAlive()).isFalse();
            assertThat(child.waitFor(Duration.ZERO)).isEqualTo(128 + 9);
            child.kill();
        }
    }

    @Test
    void aStoppedChildCanBeKilled() {
        try (ChildProcess child = ChildProcess.command("sleep", "300").start()) {
            child.stop();
            assertThat(child.isAlive()).isTrue();
            child.kill();
            assertThat(child.isAlive()).isFalse();
        }
    }

    @Test
    void aTerminatedChildMayStillDoSomething() {
        String script = "trap 'echo tidied; exit 5' TERM; echo ready; while :; do sleep 0.01; done";
        try (ChildProcess child = ChildProcess.command("sh", "-c", script).start()) {
            child.expect("ready", SOON);
            child.terminate();
            assertThat(child.waitFor(SOON)).isEqualTo(5);
            assertThat(child.lines()).containsExactly("ready", "tidied");
        }
    }

    @Test
    void waitingInVainForTheEndFails() {
        try (ChildProcess child = ChildProcess.command("sleep", "300").start()) {
            assertThatThrownBy(() -> child.waitFor(Duration.ofMillis(10)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("sleep 300");
        }
    }

    @Test
    void aChildThatHasEndedCannotBeStoppedOrTalkedTo() {
        try (ChildProcess child = ChildProcess.command("true").start()) {
            child.waitFor(SOON);
            assertThatThrownBy(child::stop).isInstanceOf(AssertionError.class);
            assertThatThrownBy(child::cont).isInstanceOf(AssertionError.class);
            assertThatThrownBy(() -> child.send("hello"))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("exited with 0");
            assertThatThrownBy(child::cpuTime).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void closeKillsTheChildrenOfTheChildToo() {
        long grandchild;
        try (ChildProcess child =
                ChildProcess.command("sh", "-c", "sleep 300 & echo $!; wait").start()) {
            grandchild = Long.parseLong(child.expect("", SOON));
            assertThat(ProcessStates.of(grandchild)).isNotEmpty();
        }
        // Nobody may be there to collect it: dead is dead.
        assertThat(ProcessStates.of(grandchild)).isSubsetOf('Z', 'X');
    }

    @Test
    void killLeavesTheChildrenOfTheChildAlive() {
        try (ChildProcess child =
                ChildProcess.command("sh", "-c", "sleep 300 & echo $!; wait").start()) {
            ProcessHandle grandchild =
                    ProcessHandle.of(Long.parseLong(child.expect("", SOON))).orElseThrow();
            try {
                child.kill();
                assertThat(ProcessStates.of(grandchild.pid())).isSubsetOf('S', 'R', 'D');
            } finally {
                grandchild.destroyForcibly();
            }
        }
    }

    @Test
    void closingTwiceIsClosingOnce() {
        ChildProcess child = ChildProcess.command("sleep", "300").start();
        child.close();
        child.close();
        assertThat(child.isAlive()).isFalse();
    }

    @Test
    void theTimeOnTheProcessorTellsTheBusyFromTheIdle() {
        String busy = "while :; do :; done";
        try (ChildProcess worker = ChildProcess.command("sh", "-c", busy).start();
                ChildProcess sleeper = ChildProcess.command("sleep", "300").start()) {
            await().atMost(SOON).until(() -> worker.cpuTime().toMillis() > 150);
            assertThat(sleeper.cpuTime()).isLessThan(Duration.ofMillis(100));
        }
    }

    @Test
    void aCommandThatIsNotThereSaysSo() {
        assertThatThrownBy(() -> ChildProcess.command("/nowhere/holdfast").start())
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("/nowhere/holdfast");
    }

    @Test
    void anInterruptEndsTheWaitAndIsKept() {
        try (ChildProcess child = ChildProcess.command("sleep", "300").start()) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> child.expect("never", Duration.ofHours(1)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("interrupted");
            assertThat(Thread.interrupted()).isTrue();
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> child.waitFor(Duration.ofHours(1)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("interrupted");
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
