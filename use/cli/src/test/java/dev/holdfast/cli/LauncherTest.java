package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script {@code ./holdfast}: what it does before the command line is the command line's. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class LauncherTest extends OnOwnStore {
    private static final Pattern MODULES = Pattern.compile("^modules=\\((.*)\\)$", Pattern.MULTILINE);
    private static final Pattern OWN_DEPENDENCY = Pattern.compile(
            "<dependency>\\s*<groupId>dev\\.holdfast</groupId>\\s*<artifactId>holdfast-(\\w+)</artifactId>(?!\\s*<scope>)");

    @Test
    void passesArgumentsAndExitCodeOnAndKeepsQuiet() {
        Cli.Ended ended = Cli.end(run("sh", "-c", "echo \"$1\"; exit 5", "sh", "a  b"));

        assertThat(ended).isEqualTo(new Cli.Ended(5, List.of("a  b"), List.of()));
    }

    /** As it does, so that these take a quarter less processor time: with this option Java starts with the archive or not at all. */
    @Test
    void theProcessesOfOtherTestsStartFromItsJarWithItsArchive() {
        assertThat(Launcher.options()).anyMatch(option -> option.startsWith("-XX:SharedArchiveFile="));
        for (ChildJvm jvm : List.of(cli.jvm("--version"), cli.jvm(OneProcess.class))) {
            ChildProcess process = jvm.flags("-Xshare:on").start();
            process.closeInput();
            assertThat(Cli.end(process).code()).as(process.story()).isZero();
        }
    }

    @Test
    void becomesTheRealThingSoThatSignalsArrive() {
        ChildProcess run = run("sh", "-c", "echo parent $PPID; exec sleep 600");
        assertThat(run.expect("parent ", SOON)).isEqualTo("parent " + run.pid());
        run.terminate();

        assertThat(Cli.end(run).code()).isEqualTo(143);
    }

    @Test
    void theThreadDumpOfSigquitDoesNotMixWithWhatTheCommandWrites() {
        ChildProcess run = run("sh", "-c", "echo up; read line; echo down");
        run.expect("up", SOON);
        Cli.signal("QUIT", run.pid());
        run.stderr().expect(line -> line.startsWith("Full thread dump"), SOON);
        run.send("go on");

        assertThat(Cli.end(run).out()).containsExactly("up", "down");
    }

    @Test
    void buildsEverythingThatTheCommandLineIsMadeOf() throws IOException {
        Path script = Launcher.script();
        Matcher modules = MODULES.matcher(Files.readString(script));
        assertThat(modules.find()).isTrue();

        List<String> names = Pattern.compile("\\w+")
                .matcher(modules.group(1).replaceAll("\\w+/", ""))
                .results()
                .map(MatchResult::group)
                .toList();
        List<String> dependencies = OWN_DEPENDENCY
                .matcher(Files.readString(script.resolveSibling("use/cli/pom.xml")))
                .results()
                .map(found -> found.group(1))
                .toList();
        assertThat(names.subList(0, names.size() - 1)).hasSameElementsAs(dependencies);
        assertThat(names).last().isEqualTo("cli");
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"LC_ALL=C", "LANG=C", "LC_CTYPE=POSIX", "NOTHING=set"})
    void namesAndArgumentsArriveWholeWithoutAUtf8LocaleAndTheCommandKeepsItsOwn(String locale) {
        String line = "env -u LC_ALL -u LC_CTYPE -u LANG " + locale + " \"$HOLDFAST\" run größe -- sh -c '"
                + "echo \"$HOLDFAST_NAME $1 ${LC_ALL-unset}\"; env | grep -c HOLDFAST_LC' sh ß";
        Cli.Ended ended = Cli.end(cli.shell("sh", "-c", line).start());

        String expected = locale.equals("LC_ALL=C") ? "größe ß C" : "größe ß unset";
        assertThat(ended.err()).isEmpty();
        assertThat(ended.out()).containsExactly(expected, "0");
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"<&-", ">&-", "2>&-", "<&- >&- 2>&-"})
    void aClosedStreamIsEmptyForTheCommandNeverOneOfOurFiles(String closed) {
        String line = "\"$HOLDFAST\" run job -- sh -c 'cd /proc/$$/fd; seen=$(readlink 0 1 2); cd \"$OLDPWD\"; "
                + "echo \"$seen\" > seen' " + closed + "; cat seen";
        Cli.Ended ended = Cli.end(cli.shell("sh", "-c", line).start());

        int streams = closed.split(" ").length;
        assertThat(ended.out()).hasSize(3).allMatch(file -> file.equals("/dev/null") || file.startsWith("pipe:"));
        assertThat(ended.out()).filteredOn("/dev/null"::equals).hasSize(streams);
    }

    @Test
    @Tag("thorough")
    void findsTheJavaThatBuiltItWhenPathHasNone() throws IOException {
        Path tools = Files.createDirectory(cli.file("bin"));
        for (String tool : List.of("bash", "env", "find", "readlink")) {
            Files.createSymbolicLink(tools.resolve(tool), which(tool));
        }
        Cli.Ended ended = Cli.end(cli.shell(
                        "env",
                        "-i",
                        "PATH=" + tools,
                        "HOME=" + folder,
                        Launcher.script().toString(),
                        "--version")
                .start());

        assertThat(ended.code()).as(ended.toString()).isZero();
        assertThat(ended.out()).singleElement().asString().startsWith("holdfast ");
    }

    private static Path which(String tool) {
        return Stream.of("/usr/bin", "/bin", "/usr/local/bin")
                .map(place -> Path.of(place, tool))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow();
    }

    private ChildProcess run(String... command) {
        return cli.script("run", "job", "--").args(command).start();
    }
}
