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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The pages show only code that a test runs, and link only to what is there. */
class PagesTest {
    private static final Path ROOT = projectRoot();
    /** Where code of the pages stands: run by this test's neighbours, and by the tests of the ladder and of Spring. */
    private static final List<Path> SOURCES = List.of(
            ROOT.resolve("build/src/test/java/dev/holdfast/docs"),
            ROOT.resolve("ladder/src/main/java"),
            ROOT.resolve("spring/src/test/java/dev/holdfast/spring/docs"));

    private static final Pattern REGION = Pattern.compile(
            "^ *// snippet (\\w+)(?:, with (\\S+) for (\\w+))?\\n(.*?)^ *// end\\n",
            Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern FENCE =
            Pattern.compile("(?:<!-- snippet: (\\w+) -->\\n)?```java\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:)([^)#]*)(?:#([^)]*))?\\)");
    private static final Pattern HEADING = Pattern.compile("^#+ +(.*)$", Pattern.MULTILINE);
    private static final Pattern ID = Pattern.compile(" id=\"([^\"]*)\"");

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
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(top, docs)
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
