package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page that explains log lines has those that the code writes, and no others. */
class TroubleshootingPageTest {
    private static final Path ROOT = PagesTest.projectRoot();
    private static final int SHORTEST = 8;

    private static final Pattern ROW = Pattern.compile("^\\| (`.*?`)[^|]*\\|", Pattern.MULTILINE);
    private static final Pattern QUOTED = Pattern.compile("`([^`]*)`");
    private static final Pattern CALL =
            Pattern.compile("(?:Log\\.warn|[ .]warn|warn\\.accept)\\((.*?)\\);\\n", Pattern.DOTALL);

    @Test
    void everyLineOnThePageIsOneThatTheCodeWrites() throws IOException {
        String code = literals(sources());
        for (String line : linesOnThePage()) {
            for (String words : fixedWords(line)) {
                assertThat(code)
                        .as("the code has the words of the line: " + line)
                        .contains(words);
            }
        }
    }

    @Test
    void everyWarningIsOnThePage() throws IOException {
        List<String> known = linesOnThePage().stream()
                .flatMap(line -> fixedWords(line).stream())
                .toList();
        Matcher call = CALL.matcher(sources());
        int calls = 0;
        while (call.find()) {
            String text = literals(call.group(1));
            if (text.length() >= SHORTEST) {
                calls++;
                assertThat(known).as("a row for: " + text).anyMatch(text::contains);
            }
        }
        assertThat(calls).isGreaterThan(10);
    }

    private static List<String> linesOnThePage() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/troubleshooting.md"));
        String table = page.substring(page.indexOf("## What the log says"), page.indexOf("## Why a hold was lost"));
        List<String> lines = new ArrayList<>();
        Matcher row = ROW.matcher(table);
        while (row.find()) {
            Matcher quoted = QUOTED.matcher(row.group(1));
            if (quoted.find()) {
                lines.add(quoted.group(1));
            }
        }
        assertThat(lines).hasSizeGreaterThan(15);
        return lines;
    }

    /** What a line has between the places that differ from time to time. */
    private static List<String> fixedWords(String line) {
        return Arrays.stream(line.split("…"))
                .map(String::strip)
                .filter(words -> words.length() >= SHORTEST)
                .toList();
    }

    private static String sources() throws IOException {
        StringBuilder all = new StringBuilder();
        for (String module : List.of("core", "stores/jdbc", "stores/redis", "stores/zookeeper", "use/spring")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    all.append(Files.readString(file));
                }
            }
        }
        return all.toString();
    }

    /** The texts in code, those that are joined by a plus made one. */
    private static String literals(String code) {
        String joined = code.replaceAll("\"\\s*\\+\\s*\"", "");
        StringBuilder texts = new StringBuilder();
        Matcher literal = Pattern.compile("\"((?:[^\"\\\\\\n]|\\\\.)*)\"").matcher(joined);
        while (literal.find()) {
            texts.append(literal.group(1)).append('\n');
        }
        return texts.toString();
    }
}
