import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * The end of {@code ./verify}: reads the reports that JUnit has written and prints what ran, what failed,
 * what was skipped and why. Its exit code is that of the whole. Run as one source file, without a build.
 */
final class Summary {
    private static final int SHOWN_LINES = 30;
    private static final int LAST_LINES = 10;
    private static final int SHOWN_NAMES = 6;
    private static final int FRAMES = 4;
    private static final int SLOWEST = 10;
    private static final int MINUTES_NAME = 54;
    private static final double SHOWN_MINUTES = 0.05;

    private final Path root = Path.of("");
    private final Map<String, String> options;
    private final List<String> modules;
    private final Map<String, Suite> suites = new LinkedHashMap<>();
    private final List<String> failures = new ArrayList<>();
    private final Map<String, List<String>> skips = new LinkedHashMap<>();
    private final Map<String, Double> classSeconds = new LinkedHashMap<>();
    private final List<String> overBudget = new ArrayList<>();

    private Summary(Map<String, String> options) throws IOException {
        this.options = options;
        this.modules = Pattern.compile("<module>(.*)</module>")
                .matcher(Files.readString(root.resolve("pom.xml")))
                .results()
                .map(found -> found.group(1))
                .toList();
    }

    public static void main(String[] args) throws Exception {
        Map<String, String> options = new LinkedHashMap<>();
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.put(args[i].substring("--".length()), args[i + 1]);
        }
        System.exit(new Summary(options).tell());
    }

    private int tell() throws IOException {
        readEvents();
        boolean built = options.get("status").equals("0");
        if (!built && (failures.isEmpty() || logSaysMore())) {
            tellLog();
        }
        tellSuites();
        tellMinutes();
        tellSlowest();
        tellSkips();
        tellCoverage();
        tellFailures();
        System.out.println("Log: " + options.get("log"));
        return tellEnd(built);
    }

    // ---- reading

    private void readEvents() throws IOException {
        Instant started = Instant.ofEpochSecond(Long.parseLong(options.get("started")));
        for (Path file : eventFiles()) {
            if (Files.getLastModifiedTime(file).toInstant().isBefore(started)) {
                continue; // of an earlier run
            }
            Map<String, Test> running = new LinkedHashMap<>();
            try (InputStream in = Files.newInputStream(file)) {
                read(suiteName(file), XMLInputFactory.newFactory().createXMLStreamReader(in), running);
            } catch (XMLStreamException e) {
                String last = running.values().stream().map(Test::shortName).collect(Collectors.joining(", "));
                failures.add("  " + suiteName(file) + ": a test JVM ended early, in " + last + "\n      " + file);
            }
        }
    }

    private List<Path> eventFiles() throws IOException {
        try (Stream<Path> files = Files.find(
                root,
                7,
                (file, attributes) -> attributes.isRegularFile()
                        && file.endsWith("open-test-report.xml")
                        && eventsFolder(file).getParent().endsWith("target"))) {
            return files.sorted(Comparator.comparing(this::positionInBuild)
                            .thenComparing(file -> eventsFolder(file).toString())
                            .thenComparing(Comparator.naturalOrder()))
                    .toList();
        }
    }

    /** {@code core/target/test-events} of {@code core/target/test-events/17/open-test-report.xml}. */
    private static Path eventsFolder(Path file) {
        return file.getParent().getParent();
    }

    private int positionInBuild(Path file) {
        return modules.indexOf(eventsFolder(file).getParent().getParent().toString());
    }

    /** {@code stores/jdbc/target/test-events/17/open-test-report.xml} is of jdbc. */
    private String suiteName(Path file) {
        String name = partOf(eventsFolder(file).getParent().getParent());
        return eventsFolder(file).endsWith("test-events-second-jdk") ? name + " on JDK " + options.get("second") : name;
    }

    /** {@code stores/jdbc} is the part jdbc. */
    private static String partOf(Path module) {
        return module.getFileName().toString();
    }

    /** Reads the events of one test JVM: each test that started, its class, and its result. */
    private void read(String suiteName, XMLStreamReader events, Map<String, Test> running) throws XMLStreamException {
        Test current = null;
        while (events.hasNext()) {
            if (events.next() != XMLStreamConstants.START_ELEMENT) {
                continue;
            }
            switch (events.getLocalName()) {
                case "started" -> {
                    current = new Test(events.getAttributeValue(null, "name"), time(events));
                    running.put(events.getAttributeValue(null, "id"), current);
                }
                case "finished" -> {
                    current = running.remove(events.getAttributeValue(null, "id"));
                    current.ended = time(events);
                }
                case "uniqueId" -> current.id = events.getElementText();
                case "type" -> current.isTest = events.getElementText().equals("TEST");
                case "legacyReportingName" -> current.reportedName = events.getElementText();
                case "result" -> {
                    current.result = events.getAttributeValue(null, "status");
                    readText(current, events);
                    count(suiteName, current);
                }
                default -> {}
            }
        }
    }

    private static Instant time(XMLStreamReader events) {
        return Instant.parse(events.getAttributeValue(null, "time"));
    }

    /** What is within the result: a reason, a stack trace. */
    private static void readText(Test test, XMLStreamReader events) throws XMLStreamException {
        StringBuilder text = new StringBuilder();
        int event = events.next();
        while (event != XMLStreamConstants.END_ELEMENT || !events.getLocalName().equals("result")) {
            if (event == XMLStreamConstants.CHARACTERS || event == XMLStreamConstants.CDATA) {
                text.append(events.getText());
            }
            event = events.next();
        }
        test.text = text.toString().strip();
    }

    private void count(String suiteName, Test test) {
        boolean failed = test.result.equals("FAILED");
        boolean skipped = test.result.equals("SKIPPED") || test.result.equals("ABORTED");
        Suite suite = suites.computeIfAbsent(suiteName, name -> new Suite());
        if (test.id.matches("\\[[^/]*]/\\[class:[^/]*]")) {
            String jdk = suiteName.replaceFirst("^\\S+", "");
            classSeconds.merge(test.shortName() + jdk, test.seconds(), Double::sum);
            suite.seconds += test.seconds();
        }
        if (!test.isTest && !failed && !skipped) {
            return;
        }
        suite.tests++;
        if (failed) {
            suite.failed++;
            failures.add("  " + suiteName + ": " + test.shortName() + "\n" + indented(message(test.text)));
        } else if (skipped) {
            suite.skipped++;
            skips.computeIfAbsent(reason(test.text), reason -> new ArrayList<>())
                    .add(test.shortName());
        }
    }

    /** What it says, and the first places it names of ours. */
    private static String message(String trace) {
        List<String> said =
                trace.lines().takeWhile(line -> !line.startsWith("\tat ")).toList();
        List<String> shown = new ArrayList<>(said.subList(0, Math.min(said.size(), SHOWN_LINES)));
        if (said.size() > SHOWN_LINES) {
            // the end of a long history says what it came to
            shown.add("...");
            shown.addAll(said.subList(Math.max(SHOWN_LINES, said.size() - LAST_LINES), said.size()));
        }
        trace.lines()
                .map(String::strip)
                .filter(line -> line.startsWith("at dev.holdfast"))
                .limit(FRAMES)
                .forEach(shown::add);
        return String.join("\n", shown);
    }

    private static String reason(String said) {
        String plain = said.replaceFirst("^(org\\.opentest4j\\.)?TestAbortedException:\\s*", "")
                .replaceFirst("^Assumption failed:\\s*", "");
        return plain.isEmpty() ? "no reason given" : plain.lines().findFirst().orElseThrow();
    }

    // ---- telling

    private void tellSuites() {
        System.out.printf("%n%-24s %7s %7s %8s %9s%n", "", "tests", "failed", "skipped", "time");
        suites.forEach((name, suite) -> System.out.printf(
                Locale.ROOT,
                "%-24s %7d %7d %8d %7.1f s%n",
                name,
                suite.tests,
                suite.failed,
                suite.skipped,
                suite.seconds));
        if (!options.containsKey("second") && (parts().isEmpty() || parts().contains("core"))) {
            System.out.println("Not run: core on a second JDK; none, 21 or later, is in /usr/lib/jvm or JAVA25_HOME");
        }
    }

    /**
     * How long each part took by the clock, which is what Maven says at its end, beside its budget. All parts are compiled
     * and checked first. The budgets of parts are the everyday tier's; with --all, only the whole has one.
     */
    private void tellMinutes() throws IOException {
        Map<String, Double> took = minutesByPart();
        if (took.isEmpty()) {
            return;
        }
        boolean everyday = options.get("tier").equals("everyday");
        Map<String, Double> budgets = new LinkedHashMap<>();
        for (String line : Files.readAllLines(root.resolve("build/budgets.tsv"))) {
            if (!line.startsWith("#")) {
                budgets.put(line.split("\t")[0], Double.valueOf(line.split("\t")[1]));
            }
        }
        System.out.printf("%n%-" + MINUTES_NAME + "s %7s %7s%n", "Minutes", "took", "budget");
        budgets.forEach((parts, budget) -> {
            if (everyday && !parts.startsWith("./verify")) {
                tellMinutes(parts, sumOf(List.of(parts.split(", ")), took), budget);
            }
        });
        took.forEach((part, minutes) -> tellMinutes(part, minutes, null));
        tellMinutes(
                "all",
                took().toSeconds() / 60.0,
                parts().isEmpty() ? budgets.get(everyday ? "./verify" : "./verify --all") : null);
    }

    /** Also removes them, so that they are reported once. */
    private static double sumOf(List<String> parts, Map<String, Double> minutes) {
        return parts.stream()
                .map(minutes::remove)
                .filter(Objects::nonNull)
                .mapToDouble(Double::doubleValue)
                .sum();
    }

    /** A part that was only passed is not reported. */
    private void tellMinutes(String parts, double took, Double budget) {
        if (took < SHOWN_MINUTES) {
            return;
        }
        boolean over = budget != null && Math.round(took * 10) > Math.round(budget * 10);
        System.out.printf(
                Locale.ROOT,
                "%-" + MINUTES_NAME + "s %7.1f %7s%s%n",
                parts,
                took,
                budget == null ? "" : budget,
                over ? "  over" : "");
        if (over) {
            overBudget.add(String.format(Locale.ROOT, "%s %.1f of %s", parts, took, budget));
        }
    }

    private Map<String, Double> minutesByPart() throws IOException {
        Map<String, String> parts = new HashMap<>();
        for (String module : modules) {
            Matcher name =
                    Pattern.compile("<name>(.*)</name>").matcher(Files.readString(root.resolve(module + "/pom.xml")));
            if (name.find()) {
                parts.put(name.group(1), partOf(Path.of(module)));
            }
        }
        List<String> lines = log();
        int tests = Math.max(lines.indexOf("[verify] tests"), 0);
        Map<String, Double> minutes = new LinkedHashMap<>();
        Pattern total = Pattern.compile("\\[INFO] Total time: +([\\d.:]+) (min|s|h).*");
        lines.subList(0, tests).stream()
                .map(total::matcher)
                .filter(Matcher::matches)
                .forEach(line -> minutes.put("compiling and checking", inMinutes(line.group(1), line.group(2))));
        Pattern module = Pattern.compile("\\[INFO] (.*?) \\.+ (?:SUCCESS|FAILURE) \\[ *([\\d.:]+) (min|s|h)]");
        lines.subList(tests, lines.size()).stream()
                .map(module::matcher)
                .filter(line -> line.matches() && parts.containsKey(line.group(1)))
                .forEach(line -> minutes.put(parts.get(line.group(1)), inMinutes(line.group(2), line.group(3))));
        return minutes;
    }

    /** Maven writes {@code 12.3 s}, {@code 02:15 min} or {@code 01:02 h}. */
    private static double inMinutes(String time, String unit) {
        String[] fields = time.split(":");
        double last = Double.parseDouble(fields[fields.length - 1]);
        return switch (unit) {
            case "s" -> last / 60;
            case "min" -> Integer.parseInt(fields[0]) + last / 60;
            default -> Integer.parseInt(fields[0]) * 60 + last;
        };
    }

    /** The inner classes count for the class they ran in. */
    private void tellSlowest() {
        if (!classSeconds.isEmpty()) {
            System.out.println("\nSlowest");
            classSeconds.entrySet().stream()
                    .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                    .limit(SLOWEST)
                    .forEach(each ->
                            System.out.printf(Locale.ROOT, "  %-48s %7.1f s%n", each.getKey(), each.getValue()));
        }
    }

    private void tellSkips() {
        if (skips.isEmpty()) {
            return;
        }
        System.out.println("\nSkipped");
        skips.forEach((reason, names) -> {
            List<String> distinct = names.stream().distinct().toList();
            String more = distinct.size() > SHOWN_NAMES ? " and " + (distinct.size() - SHOWN_NAMES) + " more" : "";
            System.out.printf(
                    "  %d: %s%n     %s%s%n",
                    names.size(), reason, distinct.stream().limit(SHOWN_NAMES).collect(Collectors.joining(", ")), more);
        });
        System.out.println();
    }

    private void tellCoverage() throws IOException {
        Path report = root.resolve("build/rules/target/site/coverage");
        Path table = report.resolve("jacoco.csv");
        Instant started = Instant.ofEpochSecond(Long.parseLong(options.get("started")));
        if (!parts().isEmpty()
                || !Files.exists(table)
                || Files.getLastModifiedTime(table).toInstant().isBefore(started)) {
            return;
        }
        List<String[]> rows = Files.readAllLines(table).stream()
                .skip(1)
                .map(line -> line.split(","))
                .toList();
        System.out.printf(
                Locale.ROOT,
                "Coverage: %s of lines, %s of branches: %s%n",
                share(rows, 7, 8),
                share(rows, 5, 6),
                report.resolve("index.html"));
    }

    private static String share(List<String[]> rows, int missedColumn, int coveredColumn) {
        long missed = rows.stream()
                .mapToLong(row -> Long.parseLong(row[missedColumn]))
                .sum();
        long covered = rows.stream()
                .mapToLong(row -> Long.parseLong(row[coveredColumn]))
                .sum();
        return missed + covered == 0 ? "nothing" : Math.round(100.0 * covered / (missed + covered)) + " %";
    }

    /** Nearly last: whoever sees only the end of a long output sees these. */
    private void tellFailures() {
        if (!failures.isEmpty()) {
            System.out.println("\nFailed tests");
            failures.forEach(System.out::println);
            System.out.println();
        }
    }

    private int tellEnd(boolean built) {
        int tests = suites.values().stream().mapToInt(suite -> suite.tests).sum();
        int failed = suites.values().stream().mapToInt(suite -> suite.failed).sum();
        int skipped = suites.values().stream().mapToInt(suite -> suite.skipped).sum();
        System.out.printf("Tests: %d passed, %d failed, %d skipped%n", tests - failed - skipped, failed, skipped);

        String verdict;
        if (failed > 0 || !failures.isEmpty()) {
            verdict = "FAILED: tests failed";
        } else if (!built) {
            verdict = "FAILED: the build stopped before its end";
        } else if (reportsAreMissing()) {
            verdict = "FAILED: tests were cut off, see the log";
        } else if (tests == 0 && (parts().isEmpty() || !haveNoTests())) {
            verdict = "FAILED: no test ran";
        } else {
            verdict = "OK";
        }
        if (options.get("tier").equals("everyday")) {
            System.out.println(
                    "Left to ./verify --all: cases that another store proves (the engine's, between processes, of"
                            + " values), repetitions, the rest of core on the second JDK, longer searches for races");
        }
        if (!overBudget.isEmpty()) {
            System.out.println(
                    "WARNING: over the budget of build/budgets.tsv, in minutes: " + String.join("; ", overBudget));
        }
        System.out.printf("%s (%d min %d s)%n", verdict, took().toMinutes(), took().toSecondsPart());
        return verdict.equals("OK") ? 0 : 1;
    }

    private Duration took() {
        return Duration.ofSeconds(Instant.now().getEpochSecond() - Long.parseLong(options.get("started")));
    }

    /** The build goes on after failed tests, and then over a test JVM that was ended for taking too long as well. */
    private boolean reportsAreMissing() {
        return log().stream()
                .anyMatch(line -> line.contains("There was a timeout or other error in the fork")
                        || line.contains("There are test failures"));
    }

    /** Whether only parts were asked for that come without tests, as the benchmarks do. */
    private boolean haveNoTests() {
        return parts().stream()
                .noneMatch(part -> modules.stream()
                        .map(root::resolve)
                        .anyMatch(module -> partOf(module).equals(part)
                                && Files.isDirectory(module.resolve("src/test/java"))));
    }

    /** The parts that were asked for; none if that is the whole. */
    private List<String> parts() {
        return options.get("only").isEmpty()
                ? List.of()
                : List.of(options.get("only").split(" "));
    }

    private boolean logSaysMore() {
        return errorLines().stream().anyMatch(line -> line.contains("COMPILATION ERROR") || line.contains("spotless"));
    }

    private void tellLog() {
        List<String> errors = errorLines();
        System.out.println("\nFrom the log");
        if (errors.isEmpty()) {
            List<String> lines = log();
            lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size()).forEach(System.out::println);
        } else {
            errors.stream().limit(SHOWN_LINES).forEach(line -> System.out.println("  " + line));
        }
    }

    /** The errors, and the warnings where the compiler turned them into one; each once, Maven's advice left out. */
    private List<String> errorLines() {
        List<String> lines = log();
        boolean warningsFail = lines.stream().anyMatch(line -> line.contains("-Werror"));
        return lines.stream()
                .filter(line -> line.startsWith("[ERROR]")
                        || (warningsFail && line.startsWith("[WARNING]") && line.contains(".java:[")))
                .map(line -> line.replaceFirst("^\\[(ERROR|WARNING)\\] ?", ""))
                .filter(line -> !line.isBlank()
                        && !line.matches("(To see the full|Re-run Maven|For more information|\\[Help|-> \\[Help"
                                + "|After correcting|  mvn <args>|See dump files).*"))
                .distinct()
                .toList();
    }

    private List<String> log() {
        try {
            return Files.readAllLines(root.resolve(options.get("log")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String indented(String text) {
        return text.lines().map(line -> "      " + line).collect(Collectors.joining("\n"));
    }

    private static final class Test {
        final String name;
        final Instant began;
        Instant ended;
        String id = "";
        String reportedName = "";
        String result = "";
        String text = "";
        boolean isTest;

        Test(String name, Instant began) {
            this.name = name;
            this.began = began;
            this.ended = began;
        }

        double seconds() {
            return Duration.between(began, ended).toMillis() / 1000.0;
        }

        /** {@code RedisStoreContractTest.Queue.theFirstIsServedFirst}: the class of the store first, then the kit's. */
        String shortName() {
            String classes = Pattern.compile("\\[(?:class|nested-class):(?:[^]/]*\\.)?([^]/]*)]")
                    .matcher(id)
                    .results()
                    .map(part -> part.group(1))
                    .collect(Collectors.joining("."));
            if (!isTest && !id.contains("[method:") && !id.contains("[test-template:")) {
                return classes.isEmpty() ? name : classes;
            }
            boolean oneOfSeveral = id.contains("-invocation:") || id.contains("[dynamic-");
            return classes + "." + reportedName.replace("()", "") + (oneOfSeveral ? " " + name : "");
        }
    }

    private static final class Suite {
        int tests;
        int failed;
        int skipped;
        double seconds;
    }
}
