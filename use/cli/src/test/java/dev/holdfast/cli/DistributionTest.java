package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The distribution of {@code ./dev pack}, unpacked in a folder with a blank in its name. For {@code ./verify --all}: the
 * everyday tests run the same jar by the same script.
 */
@Tag("thorough")
class DistributionTest extends OnOwnStore {
    private static final Duration PACKING = Duration.ofMinutes(3);
    private static final Pattern PACKAGE = Pattern.compile("`([a-z][\\w.]*)`");

    @TempDir
    static Path shared;

    private static Path home;

    @BeforeAll
    static void packAndUnpack() throws IOException {
        home = packAndUnpack(Files.createDirectory(shared.resolve("a place")), "");
    }

    /** With a JDK, or the one that is found. */
    private static Path packAndUnpack(Path place, String jdk) throws IOException {
        Path pack = Launcher.script().resolveSibling("build/dist/pack");
        ChildProcess.Builder command = ChildProcess.command(pack.toString(), shared.toString());
        try (ChildProcess packing = jdk.isEmpty()
                ? command.start()
                : command.environment("JAVA_HOME", jdk).start()) {
            assertThat(packing.waitFor(PACKING)).as(packing.story()).isZero();
            Cli.Ended unpacked = Cli.end(ChildProcess.command(
                            "tar", "-xzf", packing.lines().get(packing.lines().size() - 1), "-C", place.toString())
                    .start());
            assertThat(unpacked.code()).as(unpacked.toString()).isZero();
            try (Stream<Path> inIt = Files.list(place)) {
                return inIt.findFirst().orElseThrow();
            }
        }
    }

    @Test
    void everythingIsThere() {
        assertThat(Stream.of(
                        "bin/holdfast",
                        "lib/holdfast.jar",
                        "share/man/man1/holdfast.1",
                        "share/bash-completion/completions/holdfast",
                        "share/zsh/site-functions/_holdfast",
                        "share/fish/vendor_completions.d/holdfast.fish",
                        "LICENSE",
                        "THIRD-PARTY.md",
                        "README.md",
                        "Containerfile"))
                .allMatch(file -> home.resolve(file).toFile().length() > 0);
    }

    @Test
    void theNoticesNameEachPackageInTheJar() throws IOException {
        List<String> named = Files.readAllLines(home.resolve("THIRD-PARTY.md")).stream()
                .filter(line -> line.startsWith("|"))
                .flatMap(line -> PACKAGE.matcher(line.split("\\|")[2]).results())
                .map(found -> found.group(1) + ".")
                .toList();
        try (JarFile jar = new JarFile(home.resolve("lib/holdfast.jar").toFile())) {
            assertThat(jar.stream()
                            .map(JarEntry::getName)
                            .filter(name -> name.endsWith(".class") && !name.startsWith("dev/holdfast/"))
                            .map(name -> name.replace('/', '.')))
                    .isNotEmpty()
                    .allMatch(type -> named.stream().anyMatch(type::startsWith));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LICENSE",
                "LICENSE.txt",
                "NOTICE",
                "NOTICE.txt",
                "THIRD-PARTY.md",
                "licenses/Apache-2.0.txt",
                "licenses/BSD-3-Clause.txt",
                "licenses/LGPL-2.1.txt",
                "licenses/MPL-2.0.txt",
                "licenses/MIT-0.txt"
            })
    void theJarHasTheLicences(String text) throws IOException {
        try (JarFile jar = new JarFile(home.resolve("lib/holdfast.jar").toFile())) {
            assertThat(jar.getEntry("META-INF/" + text)).isNotNull();
        }
    }

    @Test
    void licencesOfOneNameAreJoined() throws IOException {
        try (JarFile jar = new JarFile(home.resolve("lib/holdfast.jar").toFile());
                InputStream text = jar.getInputStream(jar.getEntry("META-INF/LICENSE"))) {
            assertThat(new String(text.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("Redis Ltd.", "Apache License", "PostgreSQL Global Development Group");
        }
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
    @Tag("thorough") // it packs once more, on another JDK; that an archive fits is seen below
    void anArchiveThatIsPackedFitsThePackedJarWhereverItIs() throws IOException {
        Path jdk = jdkWhoseArchivesMayMove();
        Path place = packAndUnpack(Files.createDirectory(folder.resolve("another place")), jdk.toString());

        assertFits(jdk, place.resolve("lib/holdfast.jsa"), place.resolve("lib/holdfast.jar"));
    }

    private static Path jdkWhoseArchivesMayMove() throws IOException {
        Path jdks = Path.of("/usr/lib/jvm");
        assumeTrue(Files.isDirectory(jdks), "no other JDK here");
        try (Stream<Path> installed = Files.list(jdks)) {
            Optional<Path> found = installed
                    .filter(jdk -> jdk.getFileName().toString().matches(".*\\b(19|[2-9][0-9])\\b.*"))
                    .filter(jdk -> Files.isExecutable(jdk.resolve("bin/javac")))
                    .findFirst();
            assumeTrue(found.isPresent(), "no JDK from 19 on here");
            return found.get();
        }
    }

    @Test
    void anArchiveThatFitsNowhereElseIsNotPacked() {
        assumeTrue(Runtime.version().feature() < 19, "this Java's archives may move");
        assertThat(home.resolve("lib/holdfast.jsa")).doesNotExist();
    }

    @Test
    void aJarThatIsReplacedByAnOlderOneGetsAnArchiveAgain() throws IOException {
        Path place = folder.resolve("holdfast");
        Cli.Ended copied = Cli.end(ChildProcess.command("cp", "-r", home.toString(), place.toString())
                .start());
        assertThat(copied.code()).isZero();
        Path jar = place.resolve("lib/holdfast.jar");
        runVersion(place);
        Files.setLastModifiedTime(jar, FileTime.from(Instant.parse("2020-01-01T00:00:00Z")));
        runVersion(place);

        try (Stream<Path> made = Files.list(place.resolve("lib"))) {
            Path archive = made.filter(file -> file.getFileName().toString().startsWith("java-"))
                    .findFirst()
                    .orElseThrow();
            assertFits(Path.of(System.getProperty("java.home")), archive, jar);
        }
    }

    private static void runVersion(Path place) {
        Cli.Ended ended =
                Cli.end(ChildProcess.command(place.resolve("bin/holdfast").toString(), "--version")
                        .start());
        assertThat(ended.code()).as(ended.toString()).isZero();
    }

    private static void assertFits(Path jdk, Path archive, Path jar) {
        Cli.Ended ended = Cli.end(ChildProcess.command(
                        jdk.resolve("bin/java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xshare:on",
                        "-XX:SharedArchiveFile=" + archive,
                        "-jar",
                        jar.toString(),
                        "--version")
                .start());

        assertThat(ended.code()).as(ended.toString()).isZero();
        assertThat(ended.err()).isEmpty();
    }

    @Test
    void whereItMayNotBeWrittenItsArchiveIsInTheUsersCache() throws IOException {
        Path cache = homeOfNobody();
        assertThat(runAsNobody(cache)).isEqualTo(new Cli.Ended(0, List.of("in"), List.of()));

        try (Stream<Path> made = Files.list(cache.resolve(".cache/holdfast"))) {
            assertThat(made).anyMatch(file -> file.toString().endsWith(".jsa"));
        }
        assertThat(Files.getPosixFilePermissions(cache.resolve(".cache/holdfast")))
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void noArchiveIsKeptWhereAnotherUserMayExchangeIt() throws IOException {
        Path cache = homeOfNobody();
        Files.setPosixFilePermissions(cache, PosixFilePermissions.fromString("rwxrwxrwx"));

        assertThat(runAsNobody(cache)).isEqualTo(new Cli.Ended(0, List.of("in"), List.of()));
        assertThat(cache.resolve(".cache")).doesNotExist();
    }

    @Test
    void noArchiveIsKeptBehindALinkThatAnotherUserMayExchange() throws IOException {
        Path cache = homeOfNobody();
        Path open = Files.createDirectory(folder.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        Path link = Files.createSymbolicLink(open.resolve("link"), cache);
        new ProcessBuilder("chown", "-h", "65534", link.toString())
                .start()
                .onExit()
                .join();

        assertThat(runAsNobody(link)).isEqualTo(new Cli.Ended(0, List.of("in"), List.of()));
        assertThat(cache.resolve(".cache")).doesNotExist();
    }

    @Test
    void anArchiveIsKeptBehindALinkThatNobodyElseMayExchange() throws IOException {
        Path cache = homeOfNobody();
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("home"));

        assertThat(runAsNobody(link)).isEqualTo(new Cli.Ended(0, List.of("in"), List.of()));
        assertThat(cache.resolve(".cache/holdfast")).isNotEmptyDirectory();
    }

    private Path homeOfNobody() throws IOException {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root may become another user");
        Path cache = Files.createDirectory(folder.resolve("home"));
        new ProcessBuilder("chown", "65534:65534", cache.toString())
                .start()
                .onExit()
                .join();
        for (Path parent : List.of(shared, folder)) {
            Files.setPosixFilePermissions(parent, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        return cache;
    }

    private Cli.Ended runAsNobody(Path cache) {
        return Cli.end(ChildProcess.command(
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
                .environment("HOLDFAST_STORE", "sqlite:" + cache.resolve("locks.db"))
                .start());
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
