import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Selects the parts for {@code ./verify --changed}: reads the paths of the changed files, one a line, and prints two
 * lines. The first has the folders of the modules that the changes can reach by the dependencies in the POMs; nothing,
 * if no file changed. The second has the test classes to run there; nothing, if all of them are to run. Run as one
 * source file, without a build, in the root folder.
 *
 * <pre>
 *   changed                             reached
 *   the root pom, .mvn                  every module
 *   src/test of a module                the module
 *   anything else of a module           the module, and each one that depends on it
 *   the script ./holdfast, build/dist   use/cli
 *   anything: pages, model, scripts     build/rules, whose rules read all sources and pages
 * </pre>
 *
 * <p>If a module is reached by changes of stores alone, its tests that are named after these stores are to run
 * ({@code RedisCommandLineTest}), and those that are named after all ({@code ApplicationStoresTest}).
 */
final class Changed {
    private static final String RULES = "build/rules";
    private static final Pattern EVERYTHING = Pattern.compile("pom\\.xml|\\.mvn/.*");
    private static final Pattern COMMAND_LINE = Pattern.compile("holdfast|build/dist/.*");
    private static final Pattern DEPENDENCY = Pattern.compile("<dependency>(.*?)</dependency>", Pattern.DOTALL);
    private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(.*?)</artifactId>");

    /** By folder, in the order of the build: the modules it depends on, and whether its main code does. */
    private final Map<String, Map<String, Boolean>> dependencies = new LinkedHashMap<>();

    private Changed() throws IOException {
        Map<String, String> folders = new HashMap<>();
        Map<String, String> poms = new LinkedHashMap<>();
        for (String folder : found(Pattern.compile("<module>(.*)</module>"), Files.readString(Path.of("pom.xml")))) {
            String pom = Files.readString(Path.of(folder, "pom.xml")).replaceAll("(?s)<parent>.*?</parent>", "");
            poms.put(folder, pom);
            folders.put(found(ARTIFACT, pom).get(0), folder);
        }
        poms.forEach((folder, pom) -> {
            Map<String, Boolean> ofModule = new HashMap<>();
            for (String dependency : found(DEPENDENCY, pom)) {
                String on = folders.get(found(ARTIFACT, dependency).get(0));
                if (on != null) {
                    ofModule.put(on, !dependency.contains("<scope>test</scope>"));
                }
            }
            dependencies.put(folder, ofModule);
        });
    }

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        List<String> answer = new Changed().reachedBy(in.lines().toList());
        answer.forEach(System.out::println);
    }

    private List<String> reachedBy(List<String> paths) {
        Set<String> changed = new LinkedHashSet<>();
        Set<String> stores = new LinkedHashSet<>();
        Set<String> reachedByOthers = new LinkedHashSet<>();
        for (String path : paths) {
            String module = moduleOf(path);
            if (EVERYTHING.matcher(path).matches()) {
                changed.addAll(dependencies.keySet());
            } else if (module != null) {
                changed.add(module);
                if (path.startsWith(module + "/src/test/")) {
                    continue;
                }
                if (module.startsWith("stores/")) {
                    stores.add(module);
                } else {
                    reachedByOthers.addAll(dependingOn(module));
                }
            } else if (COMMAND_LINE.matcher(path).matches()) {
                changed.add("use/cli");
            }
        }
        if (!paths.isEmpty()) {
            changed.add(RULES);
        }

        Set<String> whole = new LinkedHashSet<>(changed);
        whole.addAll(reachedByOthers);
        Set<String> reached = new LinkedHashSet<>(whole);
        stores.forEach(store -> reached.addAll(dependingOn(store)));
        List<String> inOrder =
                dependencies.keySet().stream().filter(reached::contains).toList();
        Pattern named = Pattern.compile(Stream.concat(
                        Stream.of("Stores"), stores.stream().flatMap(store -> kindsOf(store).stream()))
                .collect(Collectors.joining("|")));
        String tests = whole.containsAll(reached)
                ? ""
                : inOrder.stream()
                        .flatMap(folder -> testsOf(folder).stream()
                                .filter(test -> whole.contains(folder)
                                        || named.matcher(test).find()))
                        .collect(Collectors.joining(","));
        return List.of(String.join(" ", inOrder), tests);
    }

    private String moduleOf(String path) {
        return dependencies.keySet().stream()
                .filter(folder -> path.startsWith(folder + "/"))
                .max(Comparator.comparing(String::length)) // use/spring/older-spring, not use/spring
                .orElse(null);
    }

    /** The modules whose main code or tests the module can change. */
    private Set<String> dependingOn(String module) {
        Set<String> mains = new LinkedHashSet<>(Set.of(module));
        while (mains.addAll(having(mains, Boolean.TRUE::equals))) {}
        return having(mains, main -> true);
    }

    private Set<String> having(Collection<String> modules, java.util.function.Predicate<Boolean> scope) {
        return dependencies.keySet().stream()
                .filter(folder -> dependencies.get(folder).entrySet().stream()
                        .anyMatch(on -> modules.contains(on.getKey()) && scope.test(on.getValue())))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** The stores of a module, by the names of their random histories: Postgres, MariaDb and H2 of stores/jdbc. */
    private static List<String> kindsOf(String store) {
        String histories = "FuzzTest";
        return testsOf(store).stream()
                .filter(test -> test.endsWith(histories))
                .map(test -> test.substring(test.lastIndexOf('.') + 1, test.length() - histories.length()))
                .toList();
    }

    private static List<String> testsOf(String folder) {
        Path sources = Path.of(folder, "src/test/java");
        if (!Files.isDirectory(sources)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(sources)) {
            return files.map(file -> sources.relativize(file).toString())
                    .filter(file -> file.endsWith("Test.java"))
                    .map(file -> file.replaceFirst("\\.java$", "").replace('/', '.'))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> found(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(found -> found.group(1)).toList();
    }
}
