package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildProcess;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Holders that are killed, stopped, or robbed of their lock. */
class LossTest extends OnOwnStore {
    private static final Pattern FAMILY = Pattern.compile("family (\\d+) (\\d+) (\\d+)");

    /** A holder, its command and the command's own child. */
    private record Family(ChildProcess holdfast, long command, long grandchild, long token) implements AutoCloseable {
        /** With a lease that its next holder must wait for. */
        static Family shortly(Cli cli) {
            return start(cli, "", "4s", List.of("job"));
        }

        /** With a lease that outlasts the wait for a processor. */
        static Family start(Cli cli, String trap, String... wanted) {
            return start(cli, trap, "9s", List.of(wanted));
        }

        private static Family start(Cli cli, String trap, String lease, List<String> wanted) {
            String work = trap + " sleep 300 & echo family $$ $! $HOLDFAST_TOKEN; while :; do wait; done";
            ChildProcess run = cli.start(Stream.of(
                            List.of("run", "--lease", lease, "--grace", "700ms"),
                            wanted,
                            List.of("--", "sh", "-c", work))
                    .flatMap(List::stream)
                    .toArray(String[]::new));
            MatchResult ids = run.expect(FAMILY, SOON);
            return new Family(
                    run, Long.parseLong(ids.group(1)), Long.parseLong(ids.group(2)), Long.parseLong(ids.group(3)));
        }

        boolean isGone() {
            return !Cli.isAlive(command) && !Cli.isAlive(grandchild);
        }

        @Override
        public void close() {
            // Orphans first: they keep open the pipe whose end is awaited.
            ProcessHandle.of(command).ifPresent(ProcessHandle::destroyForcibly);
            ProcessHandle.of(grandchild).ifPresent(ProcessHandle::destroyForcibly);
            holdfast.close();
        }
    }

    @Test
    @Tag("thorough")
    void theOrphanOfAKilledHolderRunsOnBesideTheNextHolderAsDocumented() {
        try (Family first = Family.shortly(cli)) {
            first.holdfast.kill();
            Cli.Ended second = cli.run("run", "job", "--", "sh", "-c", "echo $HOLDFAST_TOKEN");

            assertThat(Long.parseLong(second.out().get(0))).isGreaterThan(first.token);
            assertThat(Cli.isAlive(first.command)).isTrue();
        }
    }

    @Test
    void aHolderStoppedPastItsLeaseStopsItsCommandAsSoonAsItGoesOn() {
        try (Family first = Family.shortly(cli)) {
            first.holdfast.stop();
            Cli.Ended second = cli.run("run", "job", "--", "sh", "-c", "echo $HOLDFAST_TOKEN");
            assertThat(Long.parseLong(second.out().get(0))).isGreaterThan(first.token);
            assertThat(first.isGone()).isFalse();

            first.holdfast.cont();
            Cli.Ended ended = Cli.end(first.holdfast);
            assertThat(ended.code()).isEqualTo(ExitCode.HOLD_LOST);
            assertThat(ended.err()).last().asString().contains("lost", "'job'", "sqlite:", "was stopped");
            assertThat(first.isGone()).isTrue();
        }
    }

    @Test
    void aBrokenLockEndsItsCommandEvenWhenThatIgnoresSigterm() {
        try (Family first = Family.start(cli, "trap 'echo no' TERM;", "job");
                LockClient client = cli.client()) {
            assertThat(Cli.breakNow(client, "job")).isTrue();

            first.holdfast.expect("no", SOON);
            Cli.Ended ended = Cli.end(first.holdfast);
            assertThat(ended.code()).isEqualTo(ExitCode.HOLD_LOST);
            assertThat(ended.err()).last().asString().contains("lost", "'job'");
            assertThat(first.isGone()).isTrue();
        }
    }

    @Test
    void ofSeveralNamesTheLossOfOneEndsTheCommandAndFreesTheOthers() {
        try (Family first = Family.start(cli, "", "job", "other");
                LockClient client = cli.client()) {
            assertThat(Cli.breakNow(client, "other")).isTrue();

            Cli.Ended ended = Cli.end(first.holdfast);
            assertThat(ended.code()).isEqualTo(ExitCode.HOLD_LOST);
            assertThat(ended.err()).last().asString().contains("lost", "'other'", "was stopped");
            assertThat(first.isGone()).isTrue();
            assertThat(client.lock("job").status().isHeld()).isFalse();
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"--shared", "--permits=1/2"})
    void ofSeveralHoldersABreakEndsTheCommandOfTheOneShown(String how) {
        try (Family first = Family.start(cli, "", how, "job");
                Family second = Family.start(cli, "", how, "job")) {
            Cli.Ended broken = cli.run("release", "--yes", "job");
            assertThat(broken.code()).isZero();
            assertThat(broken.err()).singleElement().asString().contains("other ");
            Family lost = broken.err().get(0).contains(":" + first.holdfast.pid()) ? first : second;
            Family kept = lost == first ? second : first;
            assertThat(lost.holdfast.waitFor(SOON)).isEqualTo(ExitCode.HOLD_LOST);
            assertThat(kept.holdfast.isAlive()).isTrue();

            assertThat(cli.run("release", "--now", "--yes", "job").code()).isZero();
            assertThat(kept.holdfast.waitFor(SOON)).isEqualTo(ExitCode.HOLD_LOST);
            assertThat(first.isGone() && second.isGone()).isTrue();
        }
    }
}
