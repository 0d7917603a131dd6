package dev.holdfast.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The engine can be read in an afternoon: how many files and lines it has, how long the longest file is, and which of its
 * interfaces stand between two classes only. The limits may only fall, unless a fix needs more. Lines are those without
 * blanks, comments and imports.
 */
class EngineSizeTest {
    private static final Path ENGINE = Path.of("../../core/src/main/java/dev/holdfast/internal");
    private static final int MOST_FILES = 41;
    private static final int MOST_LINES = 6_525;
    /** One algorithm may be one file. */
    private static final int LONGEST_FILE = 483;

    private static final Pattern NO_CODE = Pattern.compile("\\s*(//.*|/?\\*.*|import .*|package .*)?");
    private static final Pattern INTERFACE = Pattern.compile("\\binterface (\\w+)");

    private final Map<String, List<String>> code = read();

    @Test
    void itHasFewFilesAndLines() {
        int lines = code.values().stream().mapToInt(List::size).sum();
        System.out.println(code.size() + " files, " + lines + " lines");
        assertThat(code).hasSizeLessThanOrEqualTo(MOST_FILES);
        assertThat(lines).isLessThanOrEqualTo(MOST_LINES);
    }

    @Test
    void noFileIsLong() {
        assertThat(code)
                .allSatisfy((file, lines) -> assertThat(lines.size()).as(file).isLessThanOrEqualTo(LONGEST_FILE));
    }

    @Test
    void noInterfaceHasOneImplementation() {
        String all = code.values().stream().flatMap(List::stream).collect(Collectors.joining("\n"));
        List<String> lonely = INTERFACE
                .matcher(all)
                .results()
                .map(found -> found.group(1))
                .filter(name ->
                        Pattern.compile("(class|record|enum) [^{]*\\b(implements|extends)[^{]*\\b" + name + "\\b")
                                        .matcher(all)
                                        .results()
                                        .count()
                                == 1)
                .sorted()
                .toList();
        assertThat(lonely).isEmpty();
    }

    private static Map<String, List<String>> read() {
        Predicate<String> isCode = NO_CODE.asMatchPredicate().negate();
        try (Stream<Path> files = Files.list(ENGINE)) {
            return files.filter(file -> !file.endsWith("package-info.java"))
                    .collect(Collectors.toMap(
                            file -> file.getFileName().toString(),
                            file -> lines(file).stream().filter(isCode).toList(),
                            (one, other) -> one,
                            TreeMap::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
