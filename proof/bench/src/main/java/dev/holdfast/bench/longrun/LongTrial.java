package dev.holdfast.bench.longrun;

import dev.holdfast.bench.longrun.LongRun.Outcome;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.MeasuredPage;
import dev.holdfast.bench.report.Table;
import dev.holdfast.bench.server.Server;
import dev.holdfast.bench.server.Servers;
import dev.holdfast.testbed.Binaries;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.ServerClock;
import dev.holdfast.testbed.ServerMissingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What grows within a week or a year? A JVM and the server that it starts go by a clock that is moved in {@link Steps}, so
 * that their timers, leases and expiries see all of that time. What both keep is looked at three times ({@link Trend}).
 * Growth that docs/capacity.md does not name under "What grows" fails the trial.
 */
public final class LongTrial {
    private static final String NAMED_IN = "## What grows";
    private static final String DONE = "@done";
    private static final String FAILED = "@failed";
    private static final String GROWS = "GROWS";
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    /** Of what a JVM wrote when it failed: what it then loses by its end is not of interest. */
    private static final int LAST_LINES = 30;

    private LongTrial() {}

    /**
     * Runs it on every store that this machine has a server for, one after another, and writes the files.
     *
     * @param folder of the measured figures
     * @param page that names what may grow
     * @param part of each run that is run: the first n-th of its steps
     * @return whether nothing was lost, and nothing grew that the page does not name
     */
    public static boolean run(Path folder, Path page, int part, List<StoreKind> stores) throws IOException {
        boolean sound = true;
        Files.createDirectories(folder);
        for (StoreKind store : stores) {
            try (ServerClock clock = ServerClock.create()) {
                if (store
                        == StoreKind.REDIS) { // the one of a jar is linked statically, and no clock of it can be moved
                    Path unused =
                            Binaries.onThisMachine().findInstalled("redis-server", "apt-get install redis-server");
                }
                System.out.println(store.title());
                sound &= run(store, clock, folder, page, part);
            } catch (ServerMissingException missing) {
                System.out.println(store.title() + " is left out: " + missing.getMessage());
            }
        }
        MeasuredPage.write(folder);
        return sound;
    }

    private static boolean run(StoreKind store, ServerClock clock, Path folder, Path page, int part) {
        ChildJvm jvm = ChildJvm.main(LongTrial.class)
                .flags(
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=4",
                        "--enable-native-access=ALL-UNNAMED",
                        "-Dslf4j.internal.verbosity=ERROR")
                .args(store.name(), folder.toString(), page.toString(), Integer.toString(part));
        clock.environment().forEach(jvm::environment);
        try (ChildProcess child = jvm.start()) {
            String line = child.stdout().expect(any -> true, PATIENCE);
            while (!line.startsWith(DONE) && !line.startsWith(FAILED)) {
                System.out.println(line);
                line = child.stdout().expect(any -> true, PATIENCE);
            }
            if (line.startsWith(FAILED)) {
                List<String> said = child.stderr().lines();
                said.stream().skip(Math.max(0, said.size() - LAST_LINES)).forEach(System.out::println);
            }
            return line.startsWith(DONE);
        }
    }

    /** One store, in a JVM that goes by the moved clock: STORE FOLDER PAGE PART. */
    public static void main(String[] args) throws Exception {
        StoreKind store = StoreKind.valueOf(args[0]);
        List<String> named = named(Path.of(args[2]));
        boolean sound = true;
        try (Server server = Servers.start(store)) {
            Map<String, Table> tables = new LinkedHashMap<>();
            List<String> settings = new ArrayList<>(List.of(server.settings()));
            for (LongRun run : LongRun.values()) {
                System.out.println("  " + run.title);
                Steps steps = new Steps(
                        ServerClock.ofThisJvm(),
                        () -> Kept.by(server),
                        run.step,
                        run.wholeCount() / Integer.parseInt(args[3]));
                String session = "?session=" + run.session().toMinutes() + "m";
                Outcome outcome = run.run(server.url() + (store == StoreKind.ZOOKEEPER ? session : ""), steps);
                Table table = table(store, outcome.kept(), named);
                tables.put(run.title, table);
                String done = "%s, %,d steps of %d min, in %.0f s"
                        .formatted(outcome.done(), steps.count(), run.step.toMinutes(), steps.seconds());
                settings.add(run.title + ": " + done);
                System.out.printf("    %s%n%n%s%n", done, table.toText());
                sound &= !table.toText().contains(GROWS);
            }
            MeasuredPage.write(Path.of(args[1]), store, MeasuredPage.Trial.LONG, String.join("; ", settings), tables);
        } catch (IllegalStateException lost) {
            System.out.println("  FAILED: " + lost.getMessage());
            lost.printStackTrace();
            sound = false;
        }
        System.out.println(sound ? DONE : FAILED);
        System.exit(sound ? 0 : 1);
    }

    private static Table table(StoreKind store, Map<String, Trend> kept, List<String> named) {
        Table table = new Table(List.of("", "start", "middle", "end", "grows"));
        kept.forEach((what, trend) -> table.row(List.of(
                what,
                "%,.0f".formatted(trend.start()),
                "%,.0f".formatted(trend.middle()),
                "%,.0f".formatted(trend.end()),
                !trend.grows(what)
                        ? "no"
                        : named.contains(store.title() + ", " + what) ? "as capacity.md says" : GROWS)));
        return table;
    }

    /** What may grow: the first cells of the table in that section of the page. */
    static List<String> named(Path page) throws IOException {
        return Files.readAllLines(page).stream()
                .dropWhile(line -> !line.equals(NAMED_IN))
                .skip(1)
                .takeWhile(line -> !line.startsWith("## "))
                .filter(line -> line.startsWith("| "))
                .map(line -> line.substring(2, line.indexOf(" |", 2)))
                .toList();
    }
}
