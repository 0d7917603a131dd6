package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code dist/pack} makes, unpacked in a folder with a blank in its name. */
class DistributionTest {
    private static final Duration PACKING = Duration.ofMinutes(3);

    @TempDir
    static Path shared;

    private static Path home;

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeAll
    static void packAndUnpack() throws IOException {
        Path pack = Launcher.script().resolveSibling("dist/pack");
        try (ChildProcess packing =
                ChildProcess.command(pack.toString(), shared.toString()).start()) {
            assertThat(packing.waitFor(PACKING)).as(packing.story()).isZero();
            Path place = Files.createDirectory(shared.resolve("a place"));
            Cli.Ended unpacked = Cli.end(ChildProcess.command(
                            "tar", "-xzf", packing.lines().get(packing.lines().size() - 1), "-C", place.toString())
                    .start());
            assertThat(unpacked.code()).as(unpacked.toString()).isZero();
            try (Stream<Path> inIt = Files.list(place)) {
                home = inIt.findFirst().orElseThrow();
            }
        }
    }

    @BeforeEach
    void storeOfItsOwn() {
        cli = new Cli(folder);
    }

    @Test
    void everythingIsThere() {
        assertThat(Stream.of(
                        "bin/holdfast",
                        "lib/holdfast.jar",
                        "lib/holdfast.jsa",
                        "share/man/man1/holdfast.1",
                        "share/bash-completion/completions/holdfast",
                        "share/zsh/site-functions/_holdfast",
                        "share/fish/vendor_completions.d/holdfast.fish",
                        "LICENSE",
                        "README.md",
                        "Containerfile"))
                .allMatch(file -> home.resolve(file).toFile().length() > 0);
    }

    @Test
    void itRunsFromWhereItIsAndByALink() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("hf"), home.resolve("bin/holdfast"));

        Cli.Ended ended = Cli.end(ChildProcess.command(link.toString(), "run", "job", "--", "echo", "in")
                .directory(folder)
                .environment("HOLDFAST_STORE", cli.store())
                .start());
        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of("in"), List.of()));
    }

    @Test
    void whereItMayNotBeWrittenItsArchiveIsInTheUsersCache() throws IOException {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root may become another user");
        Path cache = folder.resolve("home");
        Files.createDirectory(cache);
        new ProcessBuilder("chown", "65534:65534", cache.toString())
                .start()
                .onExit()
                .join();
        for (Path parent : List.of(shared, folder)) {
            Files.setPosixFilePermissions(parent, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        Cli.Ended ended = Cli.end(ChildProcess.command(
                        "setpriv",
                        "--reuid=65534",
                        "--regid=65534",
                        "--clear-groups",
                        home.resolve("bin/holdfast").toString(),
                        "run",
                        "job",
                        "--",
                        "echo",
                        "in")
                .directory(cache)
                .environment("HOME", cache.toString())
                .withoutEnvironment("XDG_CACHE_HOME")
                .withoutEnvironment("XDG_STATE_HOME")
                .withoutEnvironment("HOLDFAST_STORE")
                .start());

        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of("in"), List.of()));
        try (Stream<Path> made = Files.list(cache.resolve(".cache/holdfast"))) {
            assertThat(made).anyMatch(file -> file.toString().endsWith(".jsa"));
        }
    }

    @Test
    void theManualPageNamesEveryCommandAndOption() throws IOException {
        String page =
                Files.readString(home.resolve("share/man/man1/holdfast.1")).replace("\\-", "-");

        List<String> options = Pattern.compile("--[a-z][a-z-]+")
                .matcher(String.join("\n", cli.run("run", "--help").out()))
                .results()
                .map(MatchResult::group)
                .toList();
        assertThat(options).contains("--wait", "--die-with-parent");
        assertThat(page).contains(options).contains("HOLDFAST RUN", "HOLDFAST LIST", "EXIT STATUS", "ENVIRONMENT");
    }

    @Test
    void theManualPageIsGoodTroff() {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/groff")), "no groff here");
        Cli.Ended ended = Cli.end(ChildProcess.command(
                        "groff",
                        "-man",
                        "-ww",
                        "-z",
                        home.resolve("share/man/man1/holdfast.1").toString())
                .start());

        assertThat(ended.code()).isZero();
        assertThat(ended.err()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bash -n share/bash-completion/completions/holdfast",
                "zsh -n share/zsh/site-functions/_holdfast",
                "fish -n share/fish/vendor_completions.d/holdfast.fish"
            })
    void theCompletionsAreProgramsOfTheirShells(String line) {
        String shell = line.substring(0, line.indexOf(' '));
        assumeTrue(
                Stream.of("/usr/bin/", "/bin/").anyMatch(place -> Files.isExecutable(Path.of(place + shell))),
                "no " + shell + " here");
        Cli.Ended ended =
                Cli.end(ChildProcess.command("sh", "-c", line).directory(home).start());

        assertThat(ended).isEqualTo(new Cli.Ended(0, List.of(), List.of()));
    }

    @Test
    void theImageIsMadeOfWhatIsPackedWithoutDownloads() throws IOException {
        List<String> lines = Files.readAllLines(home.resolve("Containerfile"));

        assertThat(lines)
                .filteredOn(line -> line.startsWith("COPY"))
                .isNotEmpty()
                .allMatch(line -> Files.exists(home.resolve(line.split(" ")[1])));
        assertThat(lines)
                .filteredOn(line -> !line.startsWith("#"))
                .noneMatch(line -> line.matches(".*\\b(ADD|curl|wget|apt|apt-get|apk|dnf|yum|mvn|git|https?:).*"));
    }
}
