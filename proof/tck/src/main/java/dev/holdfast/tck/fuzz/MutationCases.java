package dev.holdfast.tck.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Breaks a store in one line, in a copy, and has {@link StoreFuzz} find it; for each line of a file beside the test:
 *
 * <pre>
 *   # stores/redis/src/main/resources/dev/holdfast/redis/lock.lua
 *   owner + permits &lt;= of  ==&gt;  owner + permits &lt;= of + 1
 * </pre>
 *
 * <p>Prints a table of what was found, and by which seed, from 1 on: {@value #MOST_SEEDS} must do. Each has
 * {@code holdfast.fuzz.seconds}. Where the histories that show a mutation are rare, such as those in which a client dies
 * while it waits for more permits than there are, a line below it names one, which is played in the place of the seeds:
 *
 * <pre>
 *   by 1: 0 try 0 0 P1/2 2000; 1 wait 0 1 P2/2 2000; 1 kill 0 0 - 0; 2 wait 0 2 P1/2 2000
 * </pre>
 */
public abstract class MutationCases {
    /** Within so many seeds each must be found; most need a handful, see docs/track-record.md. */
    private static final int MOST_SEEDS = 300;

    private static final String BY = "by ";
    private static final Pattern FOUND = Pattern.compile("(seed (\\d+)|the given script) breaks a rule: [^:]*: (.*)");

    private final String fuzzTest;
    private final Path list;

    @TempDir
    Path scratch;

    /**
     * For subclasses.
     *
     * @param fuzzTest the name of the class that fuzzes the store
     * @param list the file of mutations, below the root of the sources
     */
    protected MutationCases(String fuzzTest, String list) {
        this.fuzzTest = fuzzTest;
        this.list = root().resolve(list);
    }

    /**
     * One line changed.
     *
     * @param script the history that shows it; empty to look for one
     */
    private record Mutation(Path file, String from, String to, String script) {
        Mutation by(String history) {
            return new Mutation(file, from, to, history);
        }
    }

    @Test
    void eachLineIsInItsFileOnce() throws IOException {
        assertThat(mutations()).isNotEmpty();
        for (Mutation each : mutations()) {
            textOf(each);
        }
    }

    @Test
    @EnabledIfSystemProperty(
            named = "holdfast.mutations",
            matches = ".+",
            disabledReason = "takes long; see CONTRIBUTING.md")
    void eachMutationIsFound() throws Exception {
        List<String> missed = new ArrayList<>();
        int count = 0;
        String only = System.getProperty("holdfast.mutations", "");
        for (Mutation each : mutations()) {
            if (!only.equals("all") && !each.from.contains(only)) {
                continue;
            }
            String found = fuzz(compiled(each, scratch.resolve("" + count++)), each.script);
            System.out.printf("%-22s %-70s -> %-60s %s%n", each.file.getFileName(), each.from, each.to, found);
            if (found.startsWith("NOT FOUND")) {
                missed.add(each.toString());
            }
        }
        assertThat(count).isPositive();
        assertThat(missed).as("mutations that nobody noticed").isEmpty();
    }

    private List<Mutation> mutations() throws IOException {
        List<Mutation> all = new ArrayList<>();
        Path file = list;
        for (String line : Files.readAllLines(list)) {
            if (line.startsWith("# ")) {
                file = root().resolve(line.substring(2).strip());
            } else if (line.startsWith(BY)) {
                all.add(all.remove(all.size() - 1).by(line.substring(BY.length())));
            } else if (!line.isBlank()) {
                String[] halves = line.split(" ==> ", 2);
                all.add(new Mutation(file, halves[0].strip(), halves[1].strip(), ""));
            }
        }
        return all;
    }

    /** The text of its file, which has the line once. */
    private static String textOf(Mutation mutation) throws IOException {
        String text = Files.readString(mutation.file);
        assertThat(text.split(Pattern.quote(mutation.from), -1))
                .as("places of '%s' in %s", mutation.from, mutation.file)
                .hasSize(2);
        return text;
    }

    /** A folder with the changed file, compiled if it is Java, to come before all others on a class path. */
    private static Path compiled(Mutation mutation, Path folder) throws IOException {
        String text = textOf(mutation);
        String name = mutation.file.toString().replaceAll("\\\\", "/").replaceAll("^.*/src/main/(java|resources)/", "");
        Path changed = folder.resolve(name);
        Files.createDirectories(changed.getParent());
        Files.writeString(changed, text.replace(mutation.from, mutation.to));
        if (name.endsWith(".java")) {
            compile(mutation, changed, folder);
        }
        return folder;
    }

    /** With all of its package: a constant is copied into the classes that use it. */
    private static void compile(Mutation mutation, Path changed, Path folder) throws IOException {
        List<String> arguments =
                new ArrayList<>(List.of("-nowarn", "-proc:none", "-d", folder.toString(), "-cp", classPath()));
        try (DirectoryStream<Path> sources = Files.newDirectoryStream(mutation.file.getParent(), "*.java")) {
            for (Path source : sources) {
                boolean isChanged = source.getFileName().equals(changed.getFileName());
                arguments.add((isChanged ? changed : source).toString());
            }
        }
        int failed = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
        assertThat(failed).as("compiling %s", mutation).isZero();
    }

    private String fuzz(Path first, String script) throws Exception {
        List<URL> urls = new ArrayList<>(List.of(first.toUri().toURL()));
        for (String entry : classPath().split(java.io.File.pathSeparator)) {
            urls.add(Path.of(entry).toUri().toURL());
        }
        long begun = System.nanoTime();
        System.setProperty("holdfast.fuzz.shrink", "false");
        if (!script.isEmpty()) {
            System.setProperty("holdfast.fuzz.script", script);
        }
        try (URLClassLoader loader =
                new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            String failure = run(loader.loadClass(fuzzTest));
            long seconds = (System.nanoTime() - begun) / 1_000_000_000;
            if (failure == null) {
                return "NOT FOUND in " + seconds + " s";
            }
            Matcher found = FOUND.matcher(failure);
            return found.find() && (found.group(2) == null || Long.parseLong(found.group(2)) <= MOST_SEEDS)
                    ? found.group(1) + ", " + seconds + " s: " + found.group(3)
                    : "NOT FOUND, " + seconds + " s: "
                            + failure.lines().findFirst().orElse("");
        } finally {
            System.clearProperty("holdfast.fuzz.script");
        }
    }

    /** Runs the class as JUnit would; what went wrong, or null. */
    private @Nullable String run(Class<?> type) throws Exception {
        Thread.currentThread().setContextClassLoader(type.getClassLoader());
        Constructor<?> made = type.getDeclaredConstructor();
        made.setAccessible(true);
        Object test = made.newInstance();
        for (Field field : type.getDeclaredFields()) {
            if (field.getType().getName().equals(Path.class.getName())) {
                field.setAccessible(true);
                field.set(test, Files.createTempDirectory(scratch, "fuzz"));
            }
        }
        try {
            call(type, test, BeforeAll.class);
            Class<?> fuzz = type;
            while (!fuzz.getName().equals(StoreFuzz.class.getName())) {
                fuzz = fuzz.getSuperclass();
            }
            Method method = fuzz.getDeclaredMethod("noHistoryBreaksARule");
            method.setAccessible(true);
            method.invoke(test);
            return null;
        } catch (InvocationTargetException e) {
            return String.valueOf(e.getCause());
        } finally {
            call(type, test, AfterAll.class);
        }
    }

    private static void call(Class<?> type, Object test, Class<? extends Annotation> when) throws Exception {
        for (Method method : type.getDeclaredMethods()) {
            for (Annotation each : method.getAnnotations()) {
                if (each.annotationType().getName().equals(when.getName())) {
                    method.setAccessible(true);
                    method.invoke(test);
                }
            }
        }
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        while (!Files.exists(here.resolve("verify"))) {
            here = here.getParent();
        }
        return here;
    }
}
