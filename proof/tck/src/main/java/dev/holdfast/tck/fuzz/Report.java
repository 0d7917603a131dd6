package dev.holdfast.tck.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What a failed run says. Logs are cut, some after so many lines, some to the last of them: which rule was broken and how
 * to see it again stands in the first lines and in the last, and all of it in a file.
 */
final class Report {
    private static final Path FOLDER = Path.of("target", "fuzz");
    private static final int RULE = 6;
    private static final int LINES = 25;
    private static final int WIDTH = 240;

    private final String test;
    private final String which;

    /** Of a history of that test, such as the one of a seed. */
    Report(StoreFuzz target, String which) {
        this.test = target.getClass().getSimpleName();
        this.which = which;
    }

    /** The message, after the whole was written to a file. */
    String of(Broken found, Broken shortest, int plays, int broken) throws IOException {
        Path file = write("found:\n" + found + "\n\nthe shortest that breaks a rule:\n" + shortest + "\n");
        String rule = cut(shortest.rule().lines().limit(RULE).toList());
        List<String> log = shortest.log();
        return which + " breaks a rule: " + rule
                + "\n\nthe end of the shortest history that does:\n"
                + cut(log.subList(Math.max(0, log.size() - LINES), log.size()))
                + "\n\nagain:  ./dev fuzz "
                + test.replaceAll("(FuzzTest|Test)$", "").toLowerCase(Locale.ROOT)
                + " -Dholdfast.fuzz.script='" + shortest.script() + "'"
                + "\nplayed: " + plays + " times more, of which " + broken + " broke a rule"
                + "\nwhole:  " + file.toAbsolutePath()
                + "\nrule:   " + test + ", " + which + ": "
                + cut(shortest.rule().lines().limit(1).toList());
    }

    private Path write(String whole) throws IOException {
        Path file = FOLDER.resolve(test + "-" + which.replaceAll("[^A-Za-z0-9]+", "-") + ".txt");
        Files.createDirectories(FOLDER);
        Files.writeString(file, whole);
        return file;
    }

    private static String cut(List<String> lines) {
        return lines.stream()
                .map(line -> line.length() > WIDTH ? line.substring(0, WIDTH) + "…" : line)
                .collect(Collectors.joining("\n  "));
    }
}
