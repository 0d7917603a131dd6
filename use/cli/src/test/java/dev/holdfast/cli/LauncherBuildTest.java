package dev.holdfast.cli;

import static dev.holdfast.cli.Cli.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the real script builds: in a checkout of a few files, with a Maven that only copies a jar that was built before. */
@Tag("thorough")
class LauncherBuildTest {
    @TempDir
    Path folder;

    private Path home;
    private Path tools;
    private Path made;

    @BeforeEach
    void aCheckout() throws IOException {
        home = Files.createDirectory(folder.resolve("checkout"));
        made = home.resolve("target/launcher");
        Files.createDirectories(home.resolve("use/cli/src/main"));
        Files.createDirectories(home.resolve("use/cli/target/quick"));
        Files.writeString(home.resolve("pom.xml"), "<project/>\n");
        Files.writeString(home.resolve("use/cli/src/main/Some.java"), "class Some {}\n");
        Files.copy(Launcher.script(), home.resolve("holdfast"));
        executable(home.resolve("holdfast"));
        tools = Files.createDirectory(folder.resolve("tools"));
        pack(folder.resolve("ready.jar"), OnlyVersion.class);
        maven("cp " + folder.resolve("ready.jar") + " use/cli/target/quick/holdfast.jar");
    }

    /** What is built here: the real jar, which {@link LauncherTest} runs, takes ten times as long to build and to start. */
    static final class OnlyVersion {
        private OnlyVersion() {}

        /** Answers to {@code --version}, whatever it is asked. */
        public static void main(String[] args) {
            System.out.println("holdfast of a test");
        }
    }

    private static void pack(Path jar, Class<?> program) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, program.getName());
        String file = program.getName().replace('.', '/') + ".class";
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest);
                InputStream code = program.getClassLoader().getResourceAsStream(file)) {
            out.putNextEntry(new JarEntry(file));
            code.transferTo(out);
        }
    }

    /** The Maven to be: notes that it was started, and does what it is given. */
    private void maven(String line) throws IOException {
        Path maven = tools.resolve("mvn");
        Files.writeString(maven, "#!/bin/sh\necho built >> " + folder.resolve("builds") + "\n" + line + "\n");
        executable(maven);
    }

    private static void executable(Path file) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private List<String> builds() throws IOException {
        Path builds = folder.resolve("builds");
        return Files.exists(builds) ? Files.readAllLines(builds) : List.of();
    }

    private ChildProcess.Builder call(String... command) {
        return ChildProcess.command(command)
                .directory(folder)
                .environment("PATH", tools + ":" + System.getenv("PATH"))
                .environment("HOME", folder.toString())
                .withoutEnvironment("JAVA_TOOL_OPTIONS");
    }

    private ChildProcess.Builder version() {
        return call(home.resolve("holdfast").toString(), "--version");
    }

    private static void assertVersion(Cli.Ended ended) {
        assertThat(ended.code()).as(ended.toString()).isZero();
        assertThat(ended.out()).singleElement().asString().startsWith("holdfast ");
    }

    @Test
    void callersThatComeTogetherBuildOnce() throws IOException {
        maven("sleep 1; cp " + folder.resolve("ready.jar") + " use/cli/target/quick/holdfast.jar");
        List<ChildProcess> callers =
                List.of(version().start(), version().start(), version().start());

        callers.forEach(caller -> assertVersion(Cli.end(caller)));
        assertThat(builds()).hasSize(1);
    }

    @Test
    void aLockThatNamesALivingProcessOfOthersHoldsNobodyUp() throws IOException {
        Files.createDirectories(made);
        Files.createSymbolicLink(
                made.resolve("lock"),
                Path.of(Long.toString(ProcessHandle.current().pid())));
        Files.writeString(made.resolve("building"), ProcessHandle.current().pid() + "\n");

        assertVersion(Cli.end(version().start()));
    }

    @Test
    void nobodyBuildsBesideAMavenWhoseLauncherWasKilled() throws IOException {
        Path go = folder.resolve("go");
        maven("until [ -e " + go + " ]; do sleep 0.05; done; cp " + folder.resolve("ready.jar")
                + " use/cli/target/quick/holdfast.jar; echo ended >> " + folder.resolve("builds"));
        ChildProcess killed = version().start();
        await().atMost(SOON).until(() -> builds().size() == 1);
        Cli.signal("KILL", killed.pid());
        ChildProcess second = version().start();
        second.stderr().expect("holdfast: waiting for another build", SOON);
        assertThat(builds()).containsExactly("built");
        Files.createFile(go);

        assertVersion(Cli.end(second));
        assertThat(builds()).startsWith("built", "ended");
        killed.close();
    }

    @Test
    void aLockThatCannotBeMadeIsReported() throws IOException {
        Files.createDirectories(made.resolve("building"));
        Files.createDirectories(made.resolve("lock"));
        Cli.Ended ended = Cli.end(version().start());

        assertThat(ended.code()).isEqualTo(ExitCode.INTERNAL);
        assertThat(ended.err()).singleElement().asString().contains("cannot write", "building");
    }

    @Test
    void aJarThatDoesNotRunTakesNoPlace() throws IOException {
        assertVersion(Cli.end(version().start()));
        byte[] before = Files.readAllBytes(made.resolve("holdfast.jar"));
        maven("echo no jar > use/cli/target/quick/holdfast.jar");
        Files.writeString(home.resolve("use/cli/src/main/Some.java"), "class Some { int i; }\n");
        Cli.Ended ended = Cli.end(version().start());

        assertThat(ended.code()).isEqualTo(ExitCode.INTERNAL);
        assertThat(ended.err()).last().asString().contains("does not run", "build.log");
        assertThat(Files.readAllBytes(made.resolve("holdfast.jar"))).isEqualTo(before);
    }

    @Test
    void aFileThatComesWithAnOldTimeIsBuiltToo() throws IOException {
        assertVersion(Cli.end(version().start()));
        Path source = home.resolve("use/cli/src/main/Some.java");
        Files.writeString(source, "class Some { int j; }\n");
        Files.setLastModifiedTime(source, FileTime.from(Instant.parse("2001-01-01T00:00:00Z")));

        assertVersion(Cli.end(version().start()));
        assertThat(builds()).hasSize(2);
        assertVersion(Cli.end(version().start()));
        assertThat(builds()).hasSize(2);
    }

    @Test
    void mavenRunsOnTheJdkThatWasFound() throws IOException {
        Path used = folder.resolve("used");
        maven("echo \"$JAVA_HOME\" > " + used + "; cp " + folder.resolve("ready.jar")
                + " use/cli/target/quick/holdfast.jar");
        Path jdk = Path.of(System.getProperty("java.home"));
        Files.createSymbolicLink(tools.resolve("java"), jdk.resolve("bin/java"));

        assertVersion(Cli.end(version().withoutEnvironment("JAVA_HOME").start()));
        assertThat(Path.of(Files.readString(used).strip())).isEqualTo(jdk.toRealPath());
    }

    @Test
    void cdpathLeadsToNoOtherCheckout() throws IOException {
        Path other = Files.createDirectories(folder.resolve("others/checkout"));
        Cli.Ended ended = Cli.end(call("sh", "-c", "checkout/holdfast --version")
                .environment("CDPATH", other.getParent().toString())
                .start());

        assertVersion(ended);
    }

    @Test
    void aScriptThatChoosesAJavaIsFollowedToTheJdkItChooses() throws IOException {
        String java = ProcessHandle.current().info().command().orElseThrow();
        Files.writeString(tools.resolve("java"), "#!/bin/sh\nexec " + java + " \"$@\"\n");
        executable(tools.resolve("java"));
        Cli.Ended ended = Cli.end(version().withoutEnvironment("JAVA_HOME").start());

        assertVersion(ended);
        assertThat(builds()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"})
    void aCollectorOfTheUsersIsTaken(String variable) {
        Cli.Ended ended =
                Cli.end(version().environment(variable, "-XX:+UseParallelGC").start());

        assertVersion(ended);
    }

    @ParameterizedTest
    @ValueSource(strings = {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"})
    void optionsWithWhichJavaDoesNotStartDoNotLookLikeTheCommandsCode(String variable) {
        assertVersion(Cli.end(version().start()));
        Cli.Ended ended = Cli.end(call(home.resolve("holdfast").toString(), "run", "job", "--", "true")
                .environment(variable, "-Dpassword=s3cret -XX:NoSuchOption=1")
                .start());

        assertThat(ended.code()).isEqualTo(ExitCode.INTERNAL);
        assertThat(ended.err())
                .singleElement()
                .asString()
                .contains("Java does not start", "NoSuchOption", "JAVA_TOOL_OPTIONS")
                .doesNotContain("s3cret");
    }
}
