package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DemoTest extends OnOwnStore {
    private static final int STOCK = 80;
    private static final int RUNS = 3;
    private static final String NUMBER = "(\\d+(?:\\.\\d+)?)";

    private Path temporary;

    @BeforeEach
    void temporaryFolderOfItsOwn() throws Exception {
        temporary = Files.createDirectory(cli.file("tmp"));
    }

    /** With Holdfast exactly the stock each time; without it too much in one of a few runs: one process may sell alone. */
    @Test
    void sellsTooMuchWithoutALockAndAcrossProcessesAndExactlyTheStockWithHoldfast() {
        long without = 0;
        long withSynchronized = 0;
        for (int run = 0; run < RUNS && (without == 0 || withSynchronized == 0); run++) {
            MatchResult json = soldExactlyWithHoldfast();
            without += Long.parseLong(json.group(3));
            withSynchronized += Long.parseLong(json.group(7));
        }
        assertThat(without).as("oversold without a lock").isPositive();
        assertThat(withSynchronized).as("oversold with synchronized").isPositive();
    }

    private MatchResult soldExactlyWithHoldfast() {
        Cli.Ended ended =
                Cli.end(start("demo", "--json", "--processes", "2", "--buyers", "2", "--tickets", "" + STOCK));

        assertThat(ended.code()).isZero();
        assertThat(ended.out()).hasSize(1);
        MatchResult json = match(ended.out().get(0));
        assertThat(json.group(1)).isEqualTo(cli.store());
        assertThat(Long.parseLong(json.group(3))).isEqualTo(Long.parseLong(json.group(2)) - STOCK);
        assertThat(Long.parseLong(json.group(7))).isEqualTo(Long.parseLong(json.group(6)) - STOCK);
        assertThat(Double.parseDouble(json.group(9)))
                .as("p99 with synchronized")
                .isPositive();
        assertThat(json.group(10)).as("sold with Holdfast").isEqualTo("" + STOCK);
        assertThat(json.group(11)).isEqualTo("0");
        assertThat(temporary).isEmptyDirectory();
        return json;
    }

    private static MatchResult match(String json) {
        String run =
                ",\"sold\":(\\d+),\"oversold\":(\\d+),\"perSecond\":" + NUMBER + ",\"p99WaitMillis\":" + NUMBER + "}";
        Pattern shape = Pattern.compile(
                "\\{\"store\":\"([^\"]+)\",\"stock\":" + STOCK + ",\"processes\":2,\"buyers\":2,\"runs\":\\["
                        + "\\{\"lock\":\"none\"" + run + ",\\{\"lock\":\"synchronized\"" + run
                        + ",\\{\"lock\":\"holdfast\"" + run
                        + "]}");
        var matcher = shape.matcher(json);
        assertThat(matcher.matches()).as(json).isTrue();
        return matcher.toMatchResult();
    }

    @Test
    @Tag("thorough")
    void showsATableAndASentenceAndLeavesNothingBehind() {
        Cli.Ended ended = Cli.end(cli.jvm("demo", "--processes", "2", "--tickets", "60")
                .flags("-Djava.io.tmpdir=" + temporary)
                .withoutEnvironment("HOLDFAST_STORE")
                .start());

        assertThat(ended.code()).isZero();
        List<String> lines =
                ended.out().stream().filter(line -> !line.isBlank()).toList();
        assertThat(lines).hasSize(9);
        assertThat(lines.get(0)).matches("LOCK +SOLD +OVERSOLD +TICKETS/S +P99 WAIT");
        assertThat(lines.get(3)).matches("holdfast +60 +0 +[\\d,]+ +[\\d.]+ ms");
        assertThat(lines.get(6)).contains("Holdfast sold exactly 60");
        assertThat(lines.get(8)).matches("with any lock; Holdfast reached \\d+ % of that\\.");
        assertThat(ended.err()).hasSize(4).first().asString().contains("2 processes", "4 buyers", "60 tickets");
        assertThat(temporary).isEmptyDirectory();
        assertThat(cli.file(".local")).as("the user's own store").doesNotExist();
    }

    @Test
    @Tag("thorough")
    void oneProcessNeedsNoMoreThanSynchronized() {
        Cli.Ended ended = Cli.end(start("demo", "--processes", "1", "--tickets", "30"));

        assertThat(ended.code()).isZero();
        assertThat(String.join("\n", ended.out())).contains("synchronized was enough for one process");
    }

    @Test
    @Tag("thorough")
    void endsItsWorkersAndRemovesItsFilesWhenItIsEnded() {
        ChildProcess demo = start("demo", "--tickets", "100000");
        demo.stderr().expect("4 processes", SOON);
        await().atMost(SOON).until(() -> workersOf(demo).size() == 4);
        List<ProcessHandle> workers = workersOf(demo);
        Cli.signal("INT", demo.pid());

        Cli.Ended ended = Cli.end(demo);
        assertThat(ended.code()).isEqualTo(130);
        assertThat(ended.err()).hasSize(1);
        await().atMost(SOON).until(() -> workers.stream().allMatch(ProcStat::hasEnded));
        assertThat(temporary).isEmptyDirectory();
    }

    @Test
    @Tag("thorough")
    void workersEndWithTheirParentEvenAfterKillMinusNine() {
        ChildProcess demo = start("demo", "--tickets", "100000");
        await().atMost(SOON).until(() -> workersOf(demo).size() == 4);
        List<ProcessHandle> workers = workersOf(demo);
        demo.kill();

        await().atMost(SOON).until(() -> workers.stream().allMatch(ProcStat::hasEnded));
    }

    private ChildProcess start(String... args) {
        return cli.jvm(args).flags("-Djava.io.tmpdir=" + temporary).start();
    }

    private static List<ProcessHandle> workersOf(ChildProcess demo) {
        return ProcessHandle.of(demo.pid()).stream()
                .flatMap(ProcessHandle::children)
                .toList();
    }
}
