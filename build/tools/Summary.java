import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * The end of {@code ./verify}: reads the test reports that the build has just written and tells what ran, what failed,
 * what was skipped and why. Its exit code is that of the whole. Run as one source file, without a build.
 */
final class Summary {
    private static final int SHOWN_LINES = 60;
    private static final int SHOWN_NAMES = 6;
    private static final int FRAMES = 4;
    private static final int SLOWEST = 10;

    private final Path root = Path.of("");
    private final Map<String, String> options;
    private final List<String> modules;
    private final Map<String, Suite> suites = new LinkedHashMap<>();
    private final List<String> failures = new ArrayList<>();
    private final Map<String, List<String>> skips = new LinkedHashMap<>();
    /** For a failed test of an inner class that others inherit: the classes in which it failed; the log alone knows. */
    private final Map<String, Set<String>> hosts = new LinkedHashMap<>();

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

    private int tell() throws IOException, ParserConfigurationException {
        readHosts();
        readReports();
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

    private void readHosts() {
        Pattern running = Pattern.compile("\\[INFO] Running ([\\w.]+)");
        Pattern failed =
                Pattern.compile("\\[ERROR] ([\\w.]+)(\\$\\S+)\\.(.*) -- Time elapsed: .* <<< (FAILURE|ERROR)!");
        String host = "";
        for (String line : log()) {
            Matcher start = running.matcher(line);
            Matcher end = failed.matcher(line);
            if (start.matches()) {
                host = start.group(1);
            } else if (end.matches() && !end.group(1).equals(host)) {
                hosts.computeIfAbsent(end.group(1) + end.group(2) + "." + end.group(3), name -> new TreeSet<>())
                        .add(host.substring(host.lastIndexOf('.') + 1));
            }
        }
    }

    private void readReports() throws IOException, ParserConfigurationException {
        Instant started = Instant.ofEpochSecond(Long.parseLong(options.get("started")));
        DocumentBuilder parser = DocumentBuilderFactory.newInstance().newDocumentBuilder();
        for (Path report : reports()) {
            if (Files.getLastModifiedTime(report).toInstant().isBefore(started)) {
                continue; // of an earlier run
            }
            try {
                Element suite = parser.parse(report.toFile()).getDocumentElement();
                read(suiteName(report), suite);
            } catch (SAXException e) {
                failures.add("  unreadable test report " + report + " (did its JVM end early?)");
            }
        }
    }

    private List<Path> reports() throws IOException {
        try (Stream<Path> files = Files.find(
                root,
                6,
                (file, attributes) -> attributes.isRegularFile()
                        && file.getFileName().toString().matches("TEST-.*\\.xml")
                        && file.getParent().getFileName().toString().matches("(surefire|failsafe)-reports.*")
                        && file.getParent().getParent().endsWith("target"))) {
            return files.sorted(Comparator.comparing(this::positionInBuild)
                            .thenComparing(
                                    report -> report.getParent().getFileName().toString())
                            .thenComparing(Comparator.naturalOrder()))
                    .toList();
        }
    }

    private int positionInBuild(Path report) {
        return modules.indexOf(report.getParent().getParent().getParent().toString());
    }

    /** {@code stores/jdbc/target/surefire-reports/TEST-x.xml} is of jdbc. */
    private String suiteName(Path report) {
        Path reports = report.getParent();
        String module = reports.getParent().getParent().getFileName().toString();
        String name = module.equals("build") ? "rules" : module;
        return reports.endsWith("surefire-reports-second-jdk") ? name + " on JDK " + options.get("second") : name;
    }

    private void read(String suiteName, Element element) {
        Suite suite = suites.computeIfAbsent(suiteName, name -> new Suite());
        NodeList cases = element.getElementsByTagName("testcase");
        for (int i = 0; i < cases.getLength(); i++) {
            Element test = (Element) cases.item(i);
            String type = test.getAttribute("classname");
            String name = type.substring(type.lastIndexOf('.') + 1) + "." + test.getAttribute("name");
            suite.tests++;
            suite.seconds += seconds(test.getAttribute("time"));
            Element bad = child(test, "failure") != null ? child(test, "failure") : child(test, "error");
            Element skipped = child(test, "skipped");
            if (bad != null) {
                suite.failed++;
                String within = hosts.containsKey(type + "." + test.getAttribute("name"))
                        ? " in " + String.join(", ", hosts.get(type + "." + test.getAttribute("name")))
                        : "";
                failures.add("  " + suiteName + ": " + name + within + "\n" + indented(message(bad)));
            } else if (skipped != null) {
                suite.skipped++;
                skips.computeIfAbsent(reason(skipped), reason -> new ArrayList<>())
                        .add(name);
            }
        }
    }

    private static double seconds(String text) {
        return text.isEmpty() ? 0 : Double.parseDouble(text.replace(",", ""));
    }

    private static Element child(Element element, String name) {
        for (Node node = element.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element child && child.getTagName().equals(name)) {
                return child;
            }
        }
        return null;
    }

    /** What it says, and the first places it names of ours. */
    private static String message(Element bad) {
        String trace = bad.getTextContent().strip();
        String said = bad.getAttribute("message").strip();
        if (said.isEmpty()) {
            said = trace.lines().findFirst().orElse(bad.getAttribute("type"));
        }
        String places = trace.lines()
                .map(String::strip)
                .filter(line -> line.startsWith("at dev.holdfast"))
                .limit(FRAMES)
                .collect(Collectors.joining("\n"));
        return said + (places.isEmpty() ? "" : "\n" + places);
    }

    private static String reason(Element skipped) {
        String said = skipped.getAttribute("message").strip();
        if (said.isEmpty()) {
            said = skipped.getTextContent().strip().lines().findFirst().orElse("");
        }
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
        if (!options.containsKey("second") && List.of("", "core").contains(options.get("only"))) {
            System.out.println("Not run: core on a second JDK; none, 21 or later, is in /usr/lib/jvm or JAVA25_HOME");
        }
    }

    /** How long each part took by the clock, compiling and checks included: what Maven says at its end. */
    private void tellMinutes() {
        Pattern part = Pattern.compile("\\[INFO] Holdfast ?(.*?) \\.+ (?:SUCCESS|FAILURE) \\[ *([\\d.:]+) (min|s|h)]");
        String minutes = log().stream()
                .map(part::matcher)
                .filter(Matcher::matches)
                .map(line -> (line.group(1).isEmpty() ? "parent" : line.group(1).toLowerCase(Locale.ROOT)) + " "
                        + inMinutes(line.group(2), line.group(3)))
                .collect(Collectors.joining(", "));
        if (!minutes.isEmpty()) {
            System.out.println("\nMinutes by part: " + minutes);
        }
    }

    /** Maven writes {@code 12.3 s}, {@code 02:15 min} or {@code 01:02 h}. */
    private static String inMinutes(String time, String unit) {
        String[] fields = time.split(":");
        double last = Double.parseDouble(fields[fields.length - 1]);
        double minutes = switch (unit) {
            case "s" -> last / 60;
            case "min" -> Integer.parseInt(fields[0]) + last / 60;
            default -> Integer.parseInt(fields[0]) * 60 + last;
        };
        return String.format(Locale.ROOT, "%.1f", minutes);
    }

    /** A contract's inner classes count for the store they ran for. */
    private void tellSlowest() {
        Pattern running = Pattern.compile("\\[INFO] Running ([\\w.]+)");
        Pattern ended =
                Pattern.compile("\\[(?:INFO|WARNING|ERROR)] +Tests run: [1-9].*Time elapsed: ([\\d.,]+) s.* -- in .*");
        Map<String, Double> seconds = new LinkedHashMap<>();
        String host = "";
        String jdk = "";
        for (String line : log()) {
            Matcher start = running.matcher(line);
            Matcher end = ended.matcher(line);
            if (line.contains("surefire") && line.contains(":test ")) {
                jdk = line.contains("(second-jdk)") ? " on JDK " + options.get("second") : "";
            } else if (start.matches()) {
                host = start.group(1).substring(start.group(1).lastIndexOf('.') + 1);
            } else if (end.matches()) {
                seconds.merge(host + jdk, seconds(end.group(1)), Double::sum);
            }
        }
        if (!seconds.isEmpty()) {
            System.out.println("\nSlowest");
            seconds.entrySet().stream()
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
        Path report = root.resolve("build/target/site/coverage");
        Path table = report.resolve("jacoco.csv");
        Instant started = Instant.ofEpochSecond(Long.parseLong(options.get("started")));
        if (!options.get("only").isEmpty()
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
        Duration took = Duration.ofSeconds(Instant.now().getEpochSecond() - Long.parseLong(options.get("started")));
        System.out.printf("Tests: %d passed, %d failed, %d skipped%n", tests - failed - skipped, failed, skipped);

        String verdict;
        if (failed > 0 || !failures.isEmpty()) {
            verdict = "FAILED: tests failed";
        } else if (!built) {
            verdict = "FAILED: the build stopped before its end";
        } else if (reportsAreMissing()) {
            verdict = "FAILED: tests were cut off, see the log";
        } else if (tests == 0 && !hasNoTests()) {
            verdict = "FAILED: no test ran";
        } else {
            verdict = "OK";
        }
        if (options.get("tier").equals("everyday")) {
            System.out.println("Left to ./verify --all: the engine's cases on the other stores, the rest of core on the"
                    + " second JDK, longer searches for races");
        }
        System.out.printf("%s (%d min %d s)%n", verdict, took.toMinutes(), took.toSecondsPart());
        return verdict.equals("OK") ? 0 : 1;
    }

    /** The build goes on after failed tests, and then over a test JVM that was ended for taking too long as well. */
    private boolean reportsAreMissing() {
        return log().stream()
                .anyMatch(line -> line.contains("There was a timeout or other error in the fork")
                        || line.contains("There are test failures"));
    }

    /** Whether one part was asked for that comes without tests, as the benchmarks do. */
    private boolean hasNoTests() {
        String only = options.get("only");
        return !only.isEmpty()
                && Stream.of(only, "stores/" + only)
                        .map(root::resolve)
                        .noneMatch(
                                folder -> Files.isDirectory(folder.resolve("src/test/java")) || (only.equals("rules")));
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
        return text.lines().limit(SHOWN_LINES).map(line -> "      " + line).collect(Collectors.joining("\n"));
    }

    private static final class Suite {
        int tests;
        int failed;
        int skipped;
        double seconds;
    }
}
