package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockClient;
import dev.holdfast.OnceResult;
import dev.holdfast.OnceRun;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code holdfast once}: one of many runs the command, the others skip it. */
class OnceTest extends OnOwnStore {
    private static final int PROCESSES = 6;
    private static final String YEAR = "8760h";

    @Test
    void theSecondSkipsWithZeroAndSaysWhoRanItAndWhen() {
        Cli.Ended first = once("job", "--", "sh", "-c", "echo ran $HOLDFAST_NAME $HOLDFAST_TOKEN");
        Cli.Ended second = once("job", "--", "echo", "again");

        assertThat(first.out()).singleElement().asString().matches("ran job \\d+");
        assertThat(first.err()).isEmpty();
        assertThat(second.code()).isZero();
        assertThat(second.out()).isEmpty();
        assertThat(second.err())
                .singleElement()
                .asString()
                .matches(
                        "holdfast: 'job' was already run: by \\S+:\\d+ \\(sh .*\\), begun \\S+, ended \\S+; again from \\S+");
        assertThat(once("--skip-code", "3", "job", "--", "true").code()).isEqualTo(3);
    }

    @Test
    @Tag("thorough")
    void belowItsOwnLockItIsRefusedAndNotSkipped() {
        String[] again = {Launcher.script().toString(), "once", "--every", YEAR, "job", "--", "echo", "ran"};
        for (Cli.Ended ended : List.of(under(again, "run", "job"), under(again, "once", "--every", YEAR, "job"))) {
            assertThat(ended.out()).isEmpty();
            assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
            assertThat(ended.err())
                    .singleElement()
                    .asString()
                    .contains("'job' was not run: this command runs under the lock 'job' itself");
        }
        assertThat(under(again, "run", "other").out()).containsExactly("ran");
    }

    private Cli.Ended under(String[] command, String... around) {
        List<String> all = new ArrayList<>(List.of(around));
        all.add("--");
        all.addAll(List.of(command));
        return cli.run(all.toArray(String[]::new));
    }

    @Test
    @Tag("thorough")
    void ofManyAtATimeOneRuns() throws IOException {
        List<ChildProcess> all = new ArrayList<>();
        for (int i = 0; i < PROCESSES; i++) {
            all.add(cli.start("once", "--every", YEAR, "job", "--", "sh", "-c", "echo $$ >> ran; sleep 0.2"));
        }
        assertThat(all.stream().map(Cli::end).map(Cli.Ended::code)).containsOnly(0);
        assertThat(Files.readAllLines(cli.file("ran"))).hasSize(1);
    }

    @Test
    @Tag("thorough")
    void theNextPeriodIsRunAgain() {
        String[] everySecond = {"once", "--every", "1s", "job", "--", "echo", "ran"};
        assertThat(cli.run(everySecond).out()).containsExactly("ran");
        long end = System.nanoTime() + SOON.toNanos();
        while (cli.run(everySecond).out().isEmpty()) {
            assertThat(end - System.nanoTime()).isPositive();
        }
    }

    @Test
    @Tag("thorough")
    void aCommandThatFailedIsRunAgainInThePeriodUnlessThatIsSwitchedOff() {
        assertThat(once("job", "--", "sh", "-c", "exit 7").code()).isEqualTo(7);
        assertThat(list()).containsExactly("failed: exit code 7");

        Cli.Ended skipped = once("--no-retry", "--skip-code", "9", "job", "--", "true");
        assertThat(skipped.code()).isEqualTo(9);
        assertThat(skipped.err()).singleElement().asString().contains("has failed and is not run again");

        assertThat(once("job", "--", "true").code()).isZero();
        assertThat(list()).containsExactly("done");
    }

    @Test
    @Tag("thorough")
    void aCommandThatCannotBeStartedLeavesItsPeriodToTheNextAlsoWithoutRetries() throws IOException {
        Cli.Ended absent = once("--no-retry", "job", "--", "no-such-command");
        assertThat(absent.code()).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(absent.err()).singleElement().asString().contains("command 'no-such-command' not found");
        String text = Files.writeString(cli.file("text"), "no program\n").toString();
        assertThat(once("--no-retry", "job", "--", text).code()).isEqualTo(ExitCode.NOT_EXECUTABLE);
        assertThat(list()).isEmpty();

        assertThat(once("--no-retry", "job", "--", "echo", "ran").out()).containsExactly("ran");
        assertThat(list()).containsExactly("done");
    }

    @Test
    @Tag("thorough")
    void alsoWhereTheLauncherStartsTheCommandItsPeriodIsLeftToTheNext() {
        String once = "exec 7< /dev/null; \"$HOLDFAST\" once --every " + YEAR + " --no-retry job -- ";
        assertThat(Cli.end(cli.shell("bash", "-c", once + "no-such-command").start())
                        .code())
                .isEqualTo(ExitCode.NOT_FOUND);
        assertThat(list()).isEmpty();
        assertThat(Cli.end(cli.shell("bash", "-c", once + "echo ran").start()).out())
                .containsExactly("ran");
    }

    @Test
    @Tag("thorough")
    void whenItIsKilledTheRunWasCutShortAndTheNextRunsAfterTheLease() {
        try (ChildProcess killed = cli.start(
                "once", "--lease", "6s", "--every", YEAR, "job", "--", "sh", "-c", "echo pid $$; exec sleep 600")) {
            String orphan = killed.expect("pid ", SOON).substring("pid ".length());
            assertThat(list()).containsExactly("running");
            Cli.Ended meanwhile = once("job", "--", "true");
            assertThat(meanwhile.err()).singleElement().asString().contains("is running: by ");
            killed.kill();
            Cli.signal("KILL", Long.parseLong(orphan));
        }
        Cli.Ended next = once("--wait", "60s", "job", "--", "echo", "ran");
        assertThat(next.out()).containsExactly("ran");
    }

    @Test
    @Tag("thorough")
    void aCommandThatTakesTooLongIsStoppedAndItsRunHasFailed() {
        Cli.Ended ended = once("--at-most", "500ms", "--grace", "200ms", "job", "--", "sleep", "60");
        assertThat(ended.code()).isEqualTo(ExitCode.HOLD_LOST);
        assertThat(ended.err()).last().asString().contains("was stopped; check what it left");
        assertThat(list()).singleElement().asString().startsWith("failed: ");
    }

    @Test
    void aLockThatWasLostAsTheCommandEndedIsReportedAndTheRunCountsAsDone() throws IOException {
        try (ChildProcess run = cli.start(
                        "once",
                        "--every",
                        YEAR,
                        "--lease",
                        "60s",
                        "job",
                        "--",
                        "sh",
                        "-c",
                        "echo up; until [ -e end ]; do sleep 0.05; done");
                LockClient client = cli.client()) {
            run.expect("up", SOON);
            assertThat(Cli.breakNow(client, "job")).isTrue();
            Files.createFile(cli.file("end")); // long before the next renewal, which would find the loss
            Cli.Ended ended = Cli.end(run);
            assertThat(ended.code()).isEqualTo(ExitCode.HOLD_LOST);
            assertThat(ended.err())
                    .singleElement()
                    .asString()
                    .contains("lost the hold of 'job'", "had just ended with 0; check its work");
        }
        assertThat(list()).containsExactly("done");
    }

    @Test
    void aSignalReachesTheCommandAndTheRunIsRecordedAsFailed() {
        try (ChildProcess run =
                cli.start("once", "--every", YEAR, "job", "--", "sh", "-c", "echo up; exec sleep 600")) {
            run.expect("up", SOON);
            run.terminate();
            assertThat(run.waitFor(SOON)).isEqualTo(128 + 15);
        }
        assertThat(list()).containsExactly("failed: exit code 143");
    }

    @Test
    @Tag("thorough")
    void aRunThatIsForgottenIsRunAgainInItsPeriod() {
        assertThat(cli.run("once", "--forget", "job").err())
                .singleElement()
                .asString()
                .contains("no run of 'job'");
        assertThat(once("job", "--", "true").code()).isZero();
        assertThat(cli.run("once", "--forget", "job").code()).isZero();
        assertThat(list()).isEmpty();
        assertThat(once("job", "--", "echo", "again").out()).containsExactly("again");
    }

    @Test
    @Tag("thorough")
    void aRunIsNotForgottenWhileItGoesOn() {
        try (ChildProcess run = cli.start("once", "--every", YEAR, "job", "--", "sh", "-c", "echo up; exec sleep 60")) {
            run.expect("up", SOON);
            Cli.Ended ended = cli.run("once", "--forget", "job");
            assertThat(ended.code()).isEqualTo(ExitCode.NOT_ACQUIRED);
            assertThat(ended.err()).singleElement().asString().contains("'job'", "nothing was forgotten");
            assertThat(list()).containsExactly("running");
            run.terminate();
            assertThat(run.waitFor(SOON)).isEqualTo(128 + 15);
        }
    }

    @Test
    @Tag("thorough")
    void theListSaysWhoRanWhatAndHowItEnded() {
        once("b", "--", "true");
        once("a", "--", "true");
        try (OneProcess lists = new OneProcess(cli)) {
            assertRunsAreListed(lists);
        }
    }

    @Test
    @Tag("thorough")
    void aRunThatEndsWhileItIsListedIsNotTakenForOneThatWasCutShort() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        try (OneProcess lists = new OneProcess(cli);
                LockClient client = cli.client()) {
            CompletableFuture<Void> runs = CompletableFuture.runAsync(() -> {
                while (!over.get()) {
                    OnceResult ran = client.once("job").run(turn -> {});
                    assertThat(ran).isInstanceOf(OnceResult.Ran.class);
                    assertThat(client.once("job").forget()).isTrue();
                }
            });
            for (int list = 0; list < 100; list++) {
                assertThat(lists.run("list", "--once", "--json").out()).noneMatch(line -> line.contains("cut short"));
            }
            over.set(true);
            runs.get();
        }
    }

    private static void assertRunsAreListed(OneProcess lists) {
        List<String> table = lists.run("list", "--once").out();
        assertThat(table).hasSize(3);
        assertThat(table.get(0)).containsPattern("NAME +LAST RUN +BY +BEGAN +TOOK +DONE UNTIL");
        assertThat(table.get(1)).containsPattern("a +done +\\S+:\\d+ \\(true\\) +\\S+Z +\\S+ +\\S+Z");
        assertThat(lists.run("list", "--once", "--json", "b").out())
                .singleElement()
                .asString()
                .matches("\\[\\{\"name\":\"b\",\"state\":\"done\",\"token\":\\d+,\"by\":\\{.*\"periodStart\":\".*Z\","
                        + "\"periodEnd\":\".*Z\",\"began\":\".*Z\",\"ended\":\".*Z\",\"failure\":null}]");
        assertThat(lists.run("list", "--once", "x*").err())
                .singleElement()
                .asString()
                .contains("nothing is recorded");
        assertThat(lists.run("list").out()).isEmpty();
    }

    @Test
    @Tag("thorough")
    void periodsByACronExpressionBeginInTheZoneThatIsNamed() {
        String[] yearly = {"once", "--cron", "0 0 1 1 *", "--zone", "Europe/Berlin", "job", "--", "echo", "ran"};
        assertThat(cli.run(yearly).out()).containsExactly("ran");
        Cli.Ended second = cli.run(yearly);
        assertThat(second.out()).isEmpty();
        assertThat(second.err())
                .singleElement()
                .asString()
                .contains("again from")
                .contains("-12-31T23:00:00Z");
    }

    @Test
    @Tag("thorough")
    void aScheduleIsOneOfTwo() {
        try (OneProcess process = new OneProcess(cli)) {
            assertThat(usage(process, "--cron", "0 3 * *")).contains("'0 3 * *' is no cron expression");
            assertThat(usage(process, "--cron", "0 3 * * *", "--zone", "Berlin"))
                    .contains("there is no time zone 'Berlin'");
            assertThat(usage(process, "--cron", "0 3 * * *", "--every", "1h")).contains("--every excludes --cron");
            assertThat(usage(process, "--cron", "0", "3")).contains("put them in quotes");
            assertThat(usage(process, "--cron", "0 3 * * *", "--offset", "1h")).contains("--offset goes with --every");
            assertThat(usage(process)).contains("--every 10m").contains("--cron '0 3 * * *'");
        }
    }

    private static String usage(OneProcess process, String... options) {
        List<String> all = new ArrayList<>(List.of("once"));
        all.addAll(List.of(options));
        all.addAll(List.of("job", "--", "true"));
        Cli.Ended ended = process.run(all.toArray(String[]::new));
        assertThat(ended.code()).isEqualTo(64);
        return ended.err().get(0);
    }

    private Cli.Ended once(String... args) {
        List<String> all = new ArrayList<>(List.of("once", "--every", YEAR));
        all.addAll(List.of(args));
        return cli.run(all.toArray(String[]::new));
    }

    /** The states of all runs. */
    private List<String> list() {
        try (LockClient client = cli.client()) {
            return client.onceRuns("*").stream().map(OnceTest::text).toList();
        }
    }

    private static String text(OnceRun run) {
        return switch (run.state()) {
            case BEGUN -> "running";
            case DONE -> "done";
            case FAILED -> "failed: " + run.failure();
        };
    }
}
