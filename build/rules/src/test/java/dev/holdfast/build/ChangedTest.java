package dev.holdfast.build;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./verify --changed} selects the parts that a change can reach, and each part has a budget. */
class ChangedTest {
    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    @TempDir
    static Path classes;

    /** The script has the JVM compile it each time. */
    @BeforeAll
    static void compiled() {
        ToolProvider compiler = ToolProvider.findFirst("javac").orElseThrow();
        String source = ROOT.resolve("build/tools/Changed.java").toString();
        assertThat(compiler.run(System.out, System.err, "-d", classes.toString(), source))
                .isZero();
    }

    @Test
    void aStoreReachesThePartsThatDependOnItAndThereTheTestsNamedAfterIt() {
        Reached reached = reachedBy("stores/redis/src/main/resources/dev/holdfast/redis/lock.lua");

        assertThat(reached.modules)
                .contains("stores/redis", "use/recipes", "use/spring", "use/cli", "proof/bench", "build/rules")
                .doesNotContain("core", "proof/tck", "stores/jdbc", "use/testkit", "use/micrometer");
        assertThat(reached.tests)
                .contains(
                        "dev.holdfast.redis.AcksTest",
                        "dev.holdfast.cli.RedisCommandLineTest",
                        "dev.holdfast.spring.boot.ApplicationStoresTest",
                        "dev.holdfast.build.ArrowsTest")
                .doesNotContain("dev.holdfast.cli.SqliteCommandLineTest", "dev.holdfast.cli.RunTest");
    }

    @Test
    void aModuleOfSeveralStoresIsNamedByEach() {
        assertThat(reachedBy("stores/jdbc/pom.xml").tests)
                .contains(
                        "dev.holdfast.cli.PostgresCommandLineTest",
                        "dev.holdfast.cli.MariaDbCommandLineTest",
                        "dev.holdfast.cli.H2CommandLineTest")
                .doesNotContain("dev.holdfast.cli.RedisCommandLineTest");
    }

    @Test
    void whatAlsoAnotherChangeReachesRunsWhole() {
        Reached reached =
                reachedBy("stores/redis/src/main/java/Some.java", "use/recipes/src/main/java/Some.java", "README.md");

        assertThat(reached.tests)
                .contains("dev.holdfast.cli.RunTest", "dev.holdfast.spring.boot.ApplicationStoresTest")
                .doesNotContain("dev.holdfast.spring.HoldLockTest");
    }

    @Test
    void aTestReachesItsOwnPartAndTheRules() {
        assertThat(reachedBy("core/src/test/java/dev/holdfast/SomeTest.java"))
                .isEqualTo(new Reached(List.of("core", "build/rules"), List.of()));
    }

    /** The testbed does not depend on it. */
    @Test
    void coreReachesWhatDependsOnItByAnyWay() {
        List<String> others = House.get().modules().stream()
                .map(module -> ROOT.relativize(module.folder()).toString())
                .filter(module -> !module.equals("proof/testbed"))
                .toList();

        Reached reached = reachedBy("core/src/main/java/dev/holdfast/LockClient.java");

        assertThat(reached.modules).containsAll(others).contains("build/rules").doesNotContain("proof/testbed");
        assertThat(reached.tests).isEmpty();
    }

    @Test
    void theRootPomReachesAll() {
        assertThat(reachedBy("pom.xml").modules).contains("proof/testbed", "core", "build/rules");
    }

    @Test
    void aPageReachesTheRules() {
        assertThat(reachedBy("docs/redis.md", "verify")).isEqualTo(new Reached(List.of("build/rules"), List.of()));
    }

    @Test
    void noChangeReachesNothing() {
        assertThat(reachedBy()).isEqualTo(new Reached(List.of(), List.of()));
    }

    @Test
    void eachPartHasABudget() throws IOException {
        Stream<String> parts = Pattern.compile("<tests\\.skip\\.([a-z-]*)>")
                .matcher(Files.readString(ROOT.resolve("pom.xml")))
                .results()
                .map(part -> part.group(1))
                .filter(part -> !part.equals("older-spring")); // in ./verify --all alone

        assertThat(Files.readAllLines(ROOT.resolve("build/budgets.tsv")).stream()
                        .flatMap(line -> Arrays.stream(line.split("\t")[0].split(", "))))
                .containsAll(parts.toList());
    }

    private static Reached reachedBy(String... paths) {
        try (ChildProcess tool = ChildJvm.main("Changed")
                .classPath(classes.toString())
                .directory(ROOT)
                .start()) {
            for (String path : paths) {
                tool.send(path);
            }
            tool.closeInput();
            assertThat(tool.waitFor(Duration.ofMinutes(1))).as(tool.story()).isZero();
            return new Reached(
                    words(tool.lines().get(0), " "), words(tool.lines().get(1), ","));
        }
    }

    private static List<String> words(String line, String between) {
        return line.isEmpty() ? List.of() : List.of(line.split(between));
    }

    private record Reached(List<String> modules, List<String> tests) {}
}
