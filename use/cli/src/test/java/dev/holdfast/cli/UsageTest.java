package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is said, and how it ends, when the command line or the store is wrong: one line, one code, no stack trace. */
class UsageTest extends OnOwnStore {
    /** Shared by help and all mistakes, each of which is found before anything is started. */
    @AutoClose
    private static OneProcess mistaken;

    static Stream<Arguments> mistakes() {
        return Stream.of(
                mistake("which lock?", "run"),
                mistake("which lock?", "run", "--", "true"),
                mistake("nothing to run", "run", "job"),
                mistake("holdfast run job -- true", "run", "job", "true"),
                mistake("holdfast run a -- b", "run", "a", "b"),
                mistake("the name 'a' is given twice", "run", "a", "b", "a", "--", "true"),
                mistake("must not be empty", "run", "a", "", "--", "true"),
                mistake("give one of them", "run", "--shared", "--permits", "1/3", "a", "--", "true"),
                mistake("with --shared one name can be held, not 2", "run", "--shared", "a", "b", "--", "true"),
                mistake("with --permits one name can be held", "run", "--permits", "1/3", "a", "b", "--", "true"),
                mistake("'4/3' is not N/M", "run", "--permits", "4/3", "a", "--", "true"),
                mistake("'0/3' is not N/M", "run", "--permits=0/3", "a", "--", "true"),
                mistake("'3' is not N/M, as 1/4", "run", "--permits", "3", "a", "--", "true"),
                mistake("'-1/3' is not N/M", "run", "--permits=-1/3", "a", "--", "true"),
                mistake("'1/9999999999' is not N/M", "run", "--permits", "1/9999999999", "a", "--", "true"),
                mistake("Missing required parameter for option '--permits'", "run", "a", "--permits"),
                mistake("--every", "once", "a", "--", "true"),
                mistake("Give its name before '--'", "once", "--every", "10m", "--", "true"),
                mistake("nothing to run", "once", "--every", "10m", "a"),
                mistake("holdfast once --every 10m a -- true", "once", "--every", "10m", "a", "true"),
                mistake("100ms to 366d", "once", "--every", "99ms", "a", "--", "true"),
                mistake("offset of a period", "once", "--every", "10m", "--offset", "10m", "a", "--", "true"),
                mistake("an exit code is 0 to 255", "once", "--every", "1h", "--skip-code", "256", "a", "--", "true"),
                mistake("holdfast once --forget NAME", "once", "--forget"),
                mistake("holdfast once --forget NAME", "once", "--forget", "a", "b"),
                mistake("holdfast once --forget NAME", "once", "--forget", "a", "--", "true"),
                mistake("holdfast once --forget NAME", "once", "--forget", "--every", "1h", "a"),
                mistake("must not be empty", "once", "--forget", ""),
                mistake("leave one out", "list", "--once", "--watch"),
                mistake("Unknown option: '--sharde'", "run", "--sharde", "a", "--", "true"),
                mistake("500ms, 30s, 5m, 1h", "run", "--wait", "1.5s", "job", "--", "true"),
                mistake("500ms, 30s, 5m, 1h", "run", "--wait", "-1s", "job", "--", "true"),
                mistake("500ms, 30s, 5m, 1h", "run", "--wait", "", "job", "--", "true"),
                mistake("give one of them", "run", "-n", "-w", "3", "job", "--", "true"),
                mistake("--max-hold is longer than nothing", "run", "--max-hold", "0", "job", "--", "true"),
                mistake("at most 8760h", "run", "--wait", "99999999999999999999h", "job", "--", "true"),
                mistake("--lease is 100ms to 168h", "run", "--lease", "10ms", "job", "--", "true"),
                mistake("--lease is 100ms to 168h, not 200h;", "run", "--lease", "200h", "job", "--", "true"),
                mistake("0 to 255", "run", "-E", "256", "job", "--", "true"),
                mistake("must not be empty", "run", "", "--", "true"),
                mistake("control character", "run", "a\tb", "--", "true"),
                mistake("at most 255", "run", "x".repeat(256), "--", "true"),
                mistake("holdfast list 'order:*'", "list", "notes.txt", "order.txt"),
                mistake("Missing required parameter: 'NAME'", "release"),
                mistake("Missing required parameter: 'NAME'", "break"),
                mistake("must not be empty", "break", "--yes", ""),
                mistake("add --yes", "break", "job"),
                mistake("Missing required parameter: 'NAME'", "why"),
                mistake("must not be empty", "why", ""),
                mistake("'many'", "top", "--count", "many"),
                mistake("--count is at least 1, not 0", "top", "--count", "0"),
                mistake("must not be empty", "release", "--yes", ""),
                mistake("add --yes", "release", "job"),
                mistake("known: sqlite", "schema", "oracle"),
                mistake("Missing required parameter: 'DIALECT'", "schema"),
                mistake("'csh'; known: bash, zsh, fish", "completion", "csh"),
                mistake("--tickets is 1 to 100000", "demo", "--tickets", "0"),
                mistake("--processes is 1 to 64", "demo", "--processes", "65"),
                mistake("'many'", "demo", "--tickets", "many"),
                mistake(
                        "there is no command 'lst'; there are: run, once, fence, list, top, why, break, schema, demo,"
                                + " completion;",
                        "lst"),
                mistake("there is no command 'rnu'", "rnu", "job", "--", "true"),
                mistake("Unknown option: '--sharde'", "--sharde"),
                mistake("in --store: no store is known for 'gopher:'", "--store", "gopher://host", "list"),
                mistake("begins with a scheme", "--store", "locks.db", "list"),
                mistake("no store is known for 'redis-socket:'", "--store", "redis-socket:///run/redis.sock", "list"),
                mistake("no store is known for 'redis-socket:'", "--store", "redis-socket:/run/redis.sock", "list"),
                mistake("no slashes", "--store", "sqlite://host/locks.db", "list"),
                mistake("zk://user:password@host:2181/chroot?session=15s (in user", "--store", "zk://", "list"),
                mistake("ports from 1 to 65535", "--store", "zk://host:99999", "list"),
                mistake("the port of a Redis URL is 1 to 65535", "--store", "redis://host:99999", "list"),
                mistake("no options", "--store", "sqlite:locks.db?mode=ro", "list"),
                mistake("'~' is not expanded", "--store", "sqlite:~/locks.db", "list"),
                mistake("'~' is not expanded", "--store", "sqlite:~/locks.db", "run", "job", "--", "true"),
                mistake("one process alone", "--store", "mem:", "list"),
                mistake("one process alone", "--store", "jdbc:h2:mem:locks", "run", "job", "--", "true"),
                mistake("one process alone", "--store", "jdbc:h2:nioMemFS:locks", "list"));
    }

    private static Arguments mistake(String said, String... args) {
        return Arguments.of(said, args);
    }

    @BeforeAll
    static void startProcess(@TempDir Path folder) {
        mistaken = new OneProcess(new Cli(folder));
    }

    @ParameterizedTest(name = "{1}: {0}")
    @MethodSource("mistakes")
    void aMistakeIsExplainedInOneLine(String said, String[] args) {
        Cli.Ended ended = mistaken.run(args);

        assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
        assertThat(ended.out()).isEmpty();
        assertThat(ended.err())
                .singleElement()
                .asString()
                .startsWith("holdfast: ")
                .contains(said);
    }

    @Test
    void aBadUrlOfTheEnvironmentIsToldAsSuch() {
        Cli.Ended ended = Cli.end(
                cli.jvm("list").environment("HOLDFAST_STORE", "gopher:x").start());

        assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
        assertThat(ended.err())
                .singleElement()
                .asString()
                .contains("bad store URL '…' in HOLDFAST_STORE")
                .contains("known here: ", "redis", "sqlite")
                .doesNotContainPattern("\\bmem\\b");
    }

    @Test
    @Tag("thorough")
    void theListOfAFileThatIsNotThereSaysSo() {
        Cli.Ended ended = cli.run("--store", "sqlite:not-there.db", "list");

        assertThat(ended.code()).isZero();
        assertThat(ended.err()).singleElement().asString().contains("no lock is held", "does not exist");
        assertThat(cli.file("not-there.db")).doesNotExist();
    }

    @Test
    @Tag("thorough")
    void theAdviceToListNamesTheStoreThatWasNamed() throws InterruptedException {
        try (LockClient client = cli.client();
                Hold held = client.lock("job").acquire()) {
            assertThat(held.isValid()).isTrue();
            assertThat(cli.run("run", "--wait", "0", "--store", cli.store(), "job", "--", "true")
                            .err())
                    .singleElement()
                    .asString()
                    .contains("see 'holdfast list --store=" + cli.store() + "'");
            assertThat(cli.run("run", "--wait", "0", "job", "--", "true").err())
                    .singleElement()
                    .asString()
                    .contains("see 'holdfast list'");
        }
    }

    @Test
    @Tag("thorough")
    void theAdviceToBreakNamesTheStoreThatWasNamed() throws InterruptedException {
        String[] why = {"why", "--store", cli.store(), "job"};
        try (LockClient client = cli.client();
                Hold held = client.lock("job").acquire()) {
            assertThat(held.isValid()).isTrue();
            assertThat(cli.run(why).out()).last().asString().endsWith("holdfast break --store=" + cli.store() + " job");
            assertThat(cli.run("why", "job").out()).last().asString().endsWith("holdfast break job");
        }
        assertThat(cli.run(why).out())
                .last()
                .asString()
                .endsWith("holdfast run --store=" + cli.store() + " job -- CMD");
    }

    @Test
    void moreNamesThanOneRunMayHoldAreRefused() {
        Cli.Ended ended = mistaken.run(Stream.of(
                        Stream.of("run"),
                        IntStream.rangeClosed(1, 101).mapToObj(i -> "name" + i),
                        Stream.of("--", "true"))
                .flatMap(words -> words)
                .toArray(String[]::new));

        assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
        assertThat(ended.err()).singleElement().asString().contains("1 to 100 names, not 101");
    }

    @Test
    void secretsOfUrlsAreNotShown() {
        Cli.Ended ended =
                mistaken.run("-v", "run", "--store", "gopher://me:s3cret@host/0?password=s3cret", "job", "--", "true");

        assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
        assertThat(String.join("\n", ended.err()))
                .contains("bad store URL '…' in --store", "no store is known for 'gopher:'")
                .doesNotContain("s3cret", "me:");
    }

    @Test
    void aStoreOutOfReachIsExplainedInOneLine() throws IOException {
        Files.writeString(cli.file("file"), "in the way");
        Cli.Ended ended =
                mistaken.run("--store", "sqlite:" + cli.file("file") + "/locks.db", "run", "job", "--", "true");

        assertThat(ended.code()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
        assertThat(ended.err()).singleElement().asString().contains(cli.file("file") + "/locks.db");
    }

    @Test
    @Tag("thorough")
    void aFolderOfTheDefaultStoreThatCannotBeMadeIsExplainedInOneLine() throws IOException {
        Files.writeString(cli.file("file"), "in the way");
        Cli.Ended ended = Cli.end(cli.jvm("run", "job", "--", "true")
                .withoutEnvironment("HOLDFAST_STORE")
                .environment("XDG_STATE_HOME", cli.file("file").toString())
                .start());

        assertThat(ended.code()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
        assertThat(ended.err()).singleElement().asString().contains(cli.file("file") + "/holdfast", "--store");
    }

    @Test
    void theDefaultStoreIsAFileInTheStateFolderOfItsUser() {
        Cli.Ended ended = Cli.end(cli.jvm("run", "job", "--", "true")
                .withoutEnvironment("HOLDFAST_STORE")
                .start());

        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of(), List.of()));
        assertThat(cli.file(".local/state/holdfast/locks.db")).isRegularFile();
    }

    @Test
    void theCauseIsAddedOnDemand() throws IOException {
        Files.writeString(cli.file("file"), "in the way");
        Cli.Ended ended =
                mistaken.run("-v", "--store", "sqlite:" + cli.file("file") + "/x", "run", "job", "--", "true");

        assertThat(ended.err()).hasSizeGreaterThan(1).element(1).asString().contains("caused by: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "list", "top", "why", "break", "release", "schema", "demo", "completion"})
    void everyCommandHasHelpWithExamplesThatFitsATerminal(String command) {
        Cli.Ended ended = mistaken.run(command, "--help");

        assertThat(ended.code()).isZero();
        assertThat(ended.err()).isEmpty();
        assertThat(ended.out()).contains("Examples:").allMatch(line -> line.length() <= 80);
        assertThat(ended.out()).anyMatch(line -> line.startsWith("  holdfast " + command));
    }

    @Test
    void theHelpOfAllCommandsFitsATerminalNamesTheSaleAndNoEarlierWord() {
        Cli.Ended ended = mistaken.run("--help");

        assertThat(ended.out())
                .allMatch(line -> line.length() <= 80)
                .anyMatch(line -> line.contains("'holdfast sale'"))
                .noneMatch(line -> line.contains("release"));
    }

    /** As far as Windows can be shown elsewhere, by its name: Java finds no network under it. */
    @Test
    @Tag("thorough")
    void onWindowsRunAndTheFileAreRefusedWithAReasonAndWhatNeedsNoStoreWorks() throws InterruptedException {
        try (LockClient client = cli.client();
                Hold hold = client.lock("job").acquire();
                OneProcess windows = new OneProcess(cli, "-Dos.name=Windows 11")) {
            Cli.Ended run = windows.run("run", "job", "--", "echo", "in");
            assertThat(run.code()).isEqualTo(ExitCode.USAGE);
            assertThat(run.out()).isEmpty();
            assertThat(run.err()).singleElement().asString().contains("Windows has no SIGTERM", "Subsystem for Linux");

            Cli.Ended list = windows.run("list");
            assertThat(list.code()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
            assertThat(list.err()).singleElement().asString().contains("use a database server");
            assertThat(windows.run("schema", "postgresql").code()).isZero();
            assertThat(windows.run("completion", "bash").code()).isZero();
            assertThat(windows.run("--help").code()).isZero();
            assertThat(hold.isValid()).isTrue();
        }
    }

    @Test
    void aUserWithoutAHomeIsAskedToNameAStore() {
        Cli.Ended ended = Cli.end(cli.jvm("run", "job", "--", "true")
                .flags("-Duser.home=?")
                .withoutEnvironment("HOLDFAST_STORE")
                .withoutEnvironment("HOME")
                .start());

        assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
        assertThat(ended.err()).singleElement().asString().contains("no home folder", "--store");
    }

    @Test
    @Tag("thorough")
    void aUserWithoutAHomeMayUseANamedFile() {
        Cli.Ended ended = Cli.end(cli.jvm("run", "job", "--", "true")
                .flags("-Duser.home=?")
                .withoutEnvironment("HOME")
                .start());

        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of(), List.of()));
    }

    @Test
    void whatCouldNotBeWrittenIsToldByTheExitCode() {
        assumeTrue(Files.exists(Path.of("/dev/full")), "no /dev/full here");
        Cli.Ended ended = Cli.end(
                cli.shell("sh", "-c", "\"$HOLDFAST\" schema sqlite > /dev/full").start());

        assertThat(ended.code()).isEqualTo(ExitCode.OUTPUT_FAILED);
        assertThat(ended.err()).singleElement().asString().contains("could not write");
    }

    @Test
    void withoutACommandTheHelpIsShown() {
        Cli.Ended ended = mistaken.run();

        assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
        assertThat(ended.err()).contains("Examples:").anyMatch(line -> line.contains("run"));
        assertThat(ended.out()).isEmpty();
    }

    @Test
    void theHelpDoesNotTellOfTheDemosWorkers() {
        Cli.Ended ended = mistaken.run("--help");

        assertThat(ended.code()).isZero();
        assertThat(String.join("\n", ended.out()))
                .contains("run", "list", "demo", "HOLDFAST_STORE", "holdfast bench")
                .doesNotContain("worker");
    }

    @Test
    void theVersionIsShown() {
        Cli.Ended ended = mistaken.run("--version");

        assertThat(ended.code()).isZero();
        assertThat(ended.out())
                .singleElement()
                .asString()
                .startsWith("holdfast ")
                .contains("Java");
    }

    @Test
    void aLocaleThatCannotReadTheArgumentsIsRefused() {
        Cli.Ended ended = Cli.end(cli.jvm("run", "größe", "--", "true")
                .environment("LC_ALL", "C")
                .flags("-Dsun.jnu.encoding=ANSI_X3.4-1968")
                .start());

        assertThat(ended.code()).isEqualTo(ExitCode.USAGE);
        assertThat(ended.err()).singleElement().asString().contains("LC_ALL=C.UTF-8");
    }
}
