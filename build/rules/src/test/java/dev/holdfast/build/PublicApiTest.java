package dev.holdfast.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The public API is as {@code build/api} says, a file for each published module. So no change of it is an accident, and
 * each is seen in review. {@code -Dholdfast.api=write} moves the files to what the code says now.
 */
public class PublicApiTest {
    /** Modules that no program compiles against. */
    private static final Set<String> UNPUBLISHED =
            Set.of("testbed", "ladder", "flashsale", "cli", "bench", "challenge");

    private static final Path BASELINES = Path.of("../api");

    private final House house = House.get();

    @TestFactory
    Stream<DynamicTest> theApiIsAsItsBaselineSays() {
        return house.modules().stream()
                .filter(module -> !UNPUBLISHED.contains(module.name()))
                .map(module -> dynamicTest(module.name(), () -> compare(module)));
    }

    private void compare(Module module) throws IOException {
        Path baseline = BASELINES.resolve(module.name() + ".txt");
        Set<String> now = PublicApi.of(house.classesOf(module));
        assertThat(now).as("public types and members of " + module).isNotEmpty();
        if ("write".equals(System.getProperty("holdfast.api"))) {
            Files.createDirectories(BASELINES);
            Files.write(baseline, now);
            return;
        }
        Set<String> before = Files.exists(baseline) ? new TreeSet<>(Files.readAllLines(baseline)) : Set.of();
        if (!now.equals(before)) {
            fail(report(module, minus(before, now), minus(now, before)));
        }
    }

    private static Set<String> minus(Set<String> lines, Collection<String> others) {
        Set<String> left = new TreeSet<>(lines);
        left.removeAll(others);
        return left;
    }

    private static String report(Module module, Set<String> gone, Set<String> added) {
        StringBuilder report = new StringBuilder("the public API of " + module + " is not as build/api says.\n");
        section(report, "Gone or changed: programs that use this break.", gone);
        section(
                report,
                "New and abstract: classes of others that implement this break, if there can be any.",
                added.stream().filter(PublicApiTest::mustBeImplemented).toList());
        section(
                report,
                "New:",
                added.stream().filter(line -> !mustBeImplemented(line)).toList());
        return report + "If it is meant, run\n  mvn -Dquick -pl build/rules -am test -Dtest=PublicApiTest"
                + " -Dsurefire.failIfNoSpecifiedTests=false -Dholdfast.api=write\n"
                + "and commit build/api with the change and its line in CHANGELOG.md.";
    }

    private static boolean mustBeImplemented(String line) {
        return line.contains("): public abstract ") || line.contains("): protected abstract ");
    }

    private static void section(StringBuilder report, String title, Collection<String> lines) {
        if (!lines.isEmpty()) {
            report.append(title).append('\n');
            lines.forEach(line -> report.append("  ").append(line).append('\n'));
        }
    }

    // ---- whether changes would be seen ----

    @Test
    void whatAProgramCanNameIsInIt() {
        String name = Sample.class.getName();
        assertThat(PublicApi.of(
                        new ClassFileImporter().importClasses(Sample.class, Sample.Nested.class, Sample.Unseen.class)))
                .containsExactlyInAnyOrder(
                        name + ": public abstract static class<T> of java.util.concurrent.Callable<java.util.List<T>>",
                        name + ".<init>(): protected void",
                        name + ".CONSTANT: public static final int",
                        name + ".call(): public abstract java.util.List<T> throws java.io.IOException",
                        name + ".overridable(T, [J): protected void",
                        name + "$Nested: public static final enum of java.lang.Enum<" + name + "$Nested>",
                        name + "$Nested.ONE: public static final " + name + "$Nested",
                        name + "$Nested.valueOf(java.lang.String): public static " + name + "$Nested",
                        name + "$Nested.values(): public static [L" + name + "$Nested;");
    }

    /** With something of each kind, and with what nobody can name. */
    public abstract static class Sample<T> implements Callable<List<T>> {
        /** Seen. */
        public static final int CONSTANT = 1;

        final int hidden = 2;

        /** Seen by subclasses. */
        protected Sample() {}

        @Override
        public abstract List<T> call() throws IOException;

        /** Seen by subclasses. */
        protected void overridable(T value, long[] more) {}

        void unseen() {}

        /** Seen. */
        public enum Nested {
            /** Seen. */
            ONE
        }

        static final class Unseen {}
    }
}
