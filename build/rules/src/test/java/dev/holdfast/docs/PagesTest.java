package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The pages show only code that a test runs, with the packages it needs, and link only to what is there. */
class PagesTest {
    private static final Path ROOT = projectRoot();
    /** Where code of the pages stands: run by this test's neighbours, and by the tests of the ladder and of Spring. */
    private static final List<Path> SOURCES = List.of(
            ROOT.resolve("build/rules/src/test/java/dev/holdfast/docs"),
            ROOT.resolve("proof/ladder/src/main/java"),
            ROOT.resolve("use/spring/src/test/java/dev/holdfast/spring/docs"));

    private static final Pattern REGION = Pattern.compile(
            "^ *// snippet (\\w+)(?:, with (\\S+) for (\\w+))?\\n(.*?)^ *// end\\n",
            Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern FENCE = Pattern.compile(
            "(?<!<!-- imports -->\\n)(?:<!-- snippet: (\\w+) -->\\n)?```java\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern IMPORTS =
            Pattern.compile("<!-- imports -->\\n```java\\n((?:import [^\\n]*\\n)*)```", Pattern.DOTALL);
    private static final Pattern IMPORT = Pattern.compile("^import (?:static )?([\\w.]+);", Pattern.MULTILINE);
    private static final Pattern TYPE = Pattern.compile("(?<![.\\w])[A-Z]\\w*");
    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:)([^)#]*)(?:#([^)]*))?\\)");
    private static final Pattern HEADING = Pattern.compile("^#+ +(.*)$", Pattern.MULTILINE);
    private static final Pattern ID = Pattern.compile(" id=\"([^\"]*)\"");

    private static final int LONG = 100;
    private static final int MOST_COLUMNS = 5;
    private static final Pattern COLUMNS = Pattern.compile("^\\|[-:| ]+\\|$", Pattern.MULTILINE);
    /** Pages of figures, of everything that there is, and of decisions. */
    private static final Pattern FIGURES =
            Pattern.compile("docs/(benchmarks|capacity|reference|measured|internals/decisions)");

    private static final Pattern TEST = Pattern.compile("`(\\w+(?:Test|Contract))`");

    @Test
    void everyJavaSnippetOnAPageIsOneThatATestRuns() throws IOException {
        Map<String, String> run = snippetsThatRun();
        List<String> shown = new ArrayList<>();
        for (Path page : pages()) {
            Matcher fence = FENCE.matcher(Files.readString(page));
            while (fence.find()) {
                assertThat(fence.group(1))
                        .as("a snippet without a name in " + page)
                        .isNotNull();
                assertThat(fence.group(2))
                        .as("snippet %s in %s", fence.group(1), page)
                        .isEqualTo(run.get(fence.group(1)));
                shown.add(fence.group(1));
            }
        }
        assertThat(shown).as("snippets that run and are shown").containsAll(run.keySet());
    }

    @Test
    void aPageNamesThePackagesThatItsSnippetsNeed() throws IOException {
        Map<String, String> sources = sourcesOfSnippets();
        for (Path page : pages()) {
            String text = Files.readString(page);
            Set<String> needed = new TreeSet<>();
            Matcher fence = FENCE.matcher(text);
            while (fence.find()) {
                needed.addAll(packagesOf(fence.group(2), sources.getOrDefault(fence.group(1), "")));
            }
            if (!needed.isEmpty()) {
                Matcher imports = IMPORTS.matcher(text);
                assertThat(imports.find() ? imports.group(1) : "")
                        .as("between '<!-- imports -->' and the end of the block in " + page)
                        .isEqualTo(String.join("", needed));
            }
        }
    }

    /** What is imported by the source of a snippet, and is neither imported by the snippet itself nor in java.lang. */
    private static Set<String> packagesOf(String snippet, String source) {
        Set<String> own = imported(snippet).keySet();
        Map<String, String> packages = imported(source);
        return TYPE.matcher(snippet.replaceAll("//[^\\n]*|\"[^\"\\n]*\"", ""))
                .results()
                .map(MatchResult::group)
                .filter(type -> packages.containsKey(type) && !own.contains(type))
                .map(type -> "import " + packages.get(type) + "." + (isTwice(type, packages) ? type : "*") + ";\n")
                .collect(Collectors.toSet());
    }

    /** Whether the core has a type of this name too, so that an import of all types would leave open which is meant. */
    private static boolean isTwice(String type, Map<String, String> packages) {
        return !packages.get(type).equals("dev.holdfast")
                && Files.exists(ROOT.resolve("core/src/main/java/dev/holdfast/" + type + ".java"));
    }

    /** Types by their simple names, with what comes before: a package, or the class around them. */
    private static Map<String, String> imported(String source) {
        Map<String, String> packages = new HashMap<>();
        Matcher line = IMPORT.matcher(source);
        while (line.find()) {
            String name = line.group(1);
            int dot = name.lastIndexOf('.');
            packages.put(name.substring(dot + 1), name.substring(0, dot));
        }
        return packages;
    }

    @Test
    void everyLinkLeadsSomewhere() throws IOException {
        for (Path page : pages()) {
            Matcher link = LINK.matcher(Files.readString(page));
            while (link.find()) {
                Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
                assertThat(target).as("linked from " + page).exists();
                if (link.group(2) != null) {
                    assertThat(anchors(target))
                            .as("headings linked from " + page)
                            .contains(link.group(2));
                }
            }
        }
    }

    @Test
    void aLongPageBeginsWithItsContents() throws IOException {
        for (Path page : pagesToRead()) {
            String text = Files.readString(page);
            if (text.lines().count() > LONG) {
                int first = text.indexOf("\n## ");
                assertThat(text.substring(0, first < 0 ? text.length() : first))
                        .as("links to the headings before the first of them, in " + page)
                        .contains("](#");
            }
        }
    }

    @Test
    void noTableIsTooWideToRead() throws IOException {
        for (Path page : pagesToRead()) {
            assertThat(COLUMNS.matcher(Files.readString(page))
                            .results()
                            .mapToLong(row ->
                                    row.group().chars().filter(c -> c == '|').count() - 1)
                            .max()
                            .orElse(0))
                    .as("columns of a table in " + page)
                    .isLessThanOrEqualTo(MOST_COLUMNS);
        }
    }

    /** Without the README files, which are a page of links, and without pages of figures. */
    private static List<Path> pagesToRead() throws IOException {
        return pages().stream()
                .filter(page -> !page.getFileName().toString().startsWith("README"))
                .filter(page ->
                        !FIGURES.matcher(ROOT.relativize(page).toString()).find())
                .toList();
    }

    @Test
    void everyTestThatAPageNamesIsThere() throws IOException {
        Set<String> tests = namesOfTests();
        for (Path page : pages()) {
            assertThat(TEST.matcher(Files.readString(page)).results().map(found -> found.group(1)))
                    .as("tests named in " + page)
                    .isSubsetOf(tests);
        }
    }

    /** What links to a heading of a page end with. */
    private static List<String> anchors(Path page) throws IOException {
        String text = Files.readString(page);
        if (page.toString().endsWith(".html")) {
            return ID.matcher(text).results().map(id -> id.group(1)).toList();
        }
        return HEADING.matcher(text)
                .results()
                .map(heading -> anchor(heading.group(1)))
                .toList();
    }

    /** The letters, digits and dashes of a heading, in lower case, with a dash for a space. */
    static String anchor(String heading) {
        String text = heading.strip().toLowerCase(Locale.ROOT);
        return text.replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-');
    }

    private static Set<String> namesOfTests() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.matches("\\w+(?:Test|Contract)\\.java"))
                    .map(name -> name.replace(".java", ""))
                    .collect(Collectors.toSet());
        }
    }

    /** The whole file that a snippet is from, by the snippet's name. */
    private static Map<String, String> sourcesOfSnippets() throws IOException {
        Map<String, String> sources = new HashMap<>();
        for (Path root : SOURCES) {
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    String source = Files.readString(file);
                    snippetsIn(source).keySet().forEach(name -> sources.put(name, source));
                }
            }
        }
        return sources;
    }

    private static Map<String, String> snippetsThatRun() throws IOException {
        Map<String, String> snippets = new HashMap<>();
        for (Path source : SOURCES) {
            try (Stream<Path> files = Files.walk(source)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    snippets.putAll(snippetsIn(Files.readString(file)));
                }
            }
        }
        assertThat(snippets).isNotEmpty();
        return snippets;
    }

    private static Map<String, String> snippetsIn(String source) {
        Map<String, String> snippets = new HashMap<>();
        Matcher region = REGION.matcher(source);
        while (region.find()) {
            String code = region.group(4).stripTrailing().stripIndent() + "\n";
            if (region.group(2) != null) {
                code = code.replace("(" + region.group(3) + ")", "(" + region.group(2) + ")");
            }
            snippets.put(region.group(1), code);
        }
        return snippets;
    }

    static List<Path> pages() throws IOException {
        try (Stream<Path> top = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"));
                Stream<Path> examples = Files.walk(ROOT.resolve("show/examples"))) {
            return Stream.of(top, docs, examples)
                    .flatMap(files -> files)
                    .filter(file -> file.toString().endsWith(".md"))
                    .toList();
        }
    }

    static Path projectRoot() {
        Path folder = Path.of("").toAbsolutePath();
        while (folder != null && !Files.exists(folder.resolve("README.md"))) {
            folder = folder.getParent();
        }
        return folder == null ? Path.of("") : folder;
    }
}
