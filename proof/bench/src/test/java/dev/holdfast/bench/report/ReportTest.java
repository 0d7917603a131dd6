package dev.holdfast.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Cell;
import dev.holdfast.bench.run.Figures;
import dev.holdfast.bench.run.Growth;
import dev.holdfast.bench.run.Outage;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.Sample;
import dev.holdfast.bench.run.ServiceWorkloads;
import dev.holdfast.bench.run.Timing;
import dev.holdfast.bench.run.Workload;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
    private final Results results = new Results();

    @TempDir
    private Path folder;

    @BeforeEach
    void fill() {
        results.setting("Redis", "Redis 7");
        results.leaveOut("MariaDB: mariadbd is missing");
        add("raw", Workload.ONE_2X16, 100, 0);
        add("redisson", Workload.ONE_2X16, 50, 0);
        add("redisson-fair", Workload.ONE_2X16, 25, 3);
        add(Peers.HOLDFAST, Workload.ONE_2X16, 2_000, 0);
        add("raw", Workload.ONE_2X1, 300, 0);
        add("redisson", Workload.ONE_2X1, 100, 0);
        add(Peers.HOLDFAST, Workload.ONE_2X1, 90, 0);
    }

    @Test
    void rowsAreComparedToTheBestPeerAndTheFloor() {
        String table = Tables.of(results, StoreKind.REDIS, Workload.ONE_2X16).toText();
        assertThat(table.lines().filter(line -> line.startsWith("  holdfast")).findFirst())
                .hasValueSatisfying(line -> assertThat(line).contains("2,000", "40.0 (40.0–40.0)", "20.0"));
        assertThat(table.lines().filter(line -> line.startsWith("  redisson ")).findFirst())
                .hasValueSatisfying(line -> assertThat(line).contains("0.50"));
    }

    @Test
    void targetsAreMetOrMissedOrNotMeasured() {
        results.figure(Figures.on(StoreKind.SQLITE, Figures.KEEPING), 0.031);
        add(StoreKind.SQLITE, Peers.HOLDFAST, Workload.OWN_1, 1_000, 0);
        String table = Targets.table(results).toText();
        assertThat(row(table, "Redis, one lock, 2 processes × 16 threads: holdfast beside redisson "))
                .contains("≥ 20 ×", "40.0", "yes");
        assertThat(row(table, "Redis, one lock, 2 processes × 1 thread: holdfast beside the best peer "))
                .contains("≥ 1 ×", "0.90", "redisson", "MISSED");
        assertThat(row(table, "SQLite, 10,000 renewed holds")).contains("3.10 %", "MISSED");
        assertThat(row(table, "Redis, own lock, 1 thread: holdfast beside raw")).contains("not in this run", "–");
        assertThat(table).as("where Holdfast took no part").doesNotContain("PostgreSQL");
    }

    @Test
    void atAServicesPaceTheWaitsAreComparedAndTheLessFavourableRatioCounts() {
        String workload = ServiceWorkloads.SERVICE_1X1;
        add("raw", workload, 1_000, 0);
        add("spring-redis", workload, 800, 0);
        add("redisson", workload, 900, 0);
        add(Peers.HOLDFAST, workload, 950, 0);
        String table = Tables.of(results, StoreKind.REDIS, workload).toText();
        assertThat(table.lines().findFirst().orElseThrow()).contains("wait p50 ms", "p99.9", "not served %");
        assertThat(row(table, "holdfast")).contains("1.05", "0.95 (0.95–0.95)");
        assertThat(row(table, "holdfast")).as("too few turns for p99.9").contains("–");
        String targets = Targets.table(results).toText();
        String what = "Redis, at a service's pace, 1 process × 1 thread, warm JVM: holdfast, median wait beside ";
        assertThat(row(targets, what + "raw")).contains("≤ 1.2 ×", "1.05", "yes");
        assertThat(row(targets, what + "the best peer")).contains("≤ 0.9 ×", "redisson");
    }

    @Test
    void aPaceThatIsNotKeptMissesItsTargetUnlessTheMachineCouldNotKeepIt() {
        String workload = ServiceWorkloads.SERVICE_1X16;
        String what = "Redis, at a service's pace, 1 process × 16 threads, warm JVM: holdfast, median wait beside raw";
        results.add(cell(workload, Peers.HOLDFAST, 0.3));
        results.add(cell(workload, "raw", 0));
        assertThat(row(Targets.table(results).toText(), what)).contains("30 % of the turns not served", "MISSED");
        Results slow = new Results();
        slow.add(cell(workload, Peers.HOLDFAST, 0.3));
        slow.add(cell(workload, "raw", 0.4));
        assertThat(row(Targets.table(slow).toText(), what)).contains("undecided");
    }

    @Test
    void whatFailedOrDidNotExcludeIsSaidAloud() {
        results.add(new Cell(
                StoreKind.REDIS,
                workload(Workload.ONE_2X1),
                Peers.of("spring-redis", StoreKind.REDIS),
                List.of(),
                Optional.of("spring-redis: worker process 7 ended with 137")));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Terminal.print(results, new PrintStream(bytes, true, StandardCharsets.UTF_8));
        assertThat(bytes.toString(StandardCharsets.UTF_8))
                .contains(
                        "FAILED: Redis, one lock, 2 processes × 1 thread: spring-redis: worker process 7 ended with 137")
                .contains("NOT EXCLUSIVE: redisson-fair on Redis, one lock, 2 processes × 16 threads: 6")
                .contains("Left out: MariaDB: mariadbd is missing");
    }

    @Test
    void eachStoreHasAFileOfItsFiguresAndAllHaveOnePageWithPictures() throws IOException {
        add("redisson", ServiceWorkloads.SERVICE_1X1, 900, 0);
        add(Peers.HOLDFAST, ServiceWorkloads.SERVICE_1X1, 950, 0);
        Path measured = folder.resolve("measured");
        MeasuredPage.write(measured, results, List.of(StoreKind.REDIS, StoreKind.MARIADB), "./holdfast bench");
        assertThat(Files.readAllLines(measured.resolve("redis.tsv")))
                .startsWith("table\trow\tcolumn\tvalue", "Run\tCommand\t\t./holdfast bench", "Run\tRedis\t\tRedis 7")
                .contains("one lock, 2 processes × 16 threads\tholdfast\tturns/s\t2,000");
        assertThat(Files.readAllLines(measured.resolve("mariadb.tsv")))
                .contains("Run\tLeft out\t\tMariaDB: mariadbd is missing");
        String page = Files.readString(measured.resolve("index.html"));
        assertThat(page)
                .contains("<td>2,000</td>", "MariaDB: mariadbd is missing", "<td class=\"missed\">MISSED</td>")
                .contains("href=\"#redis-targets\"", "id=\"redis-targets\"");
        Path images = folder.resolve("images");
        for (String picture : List.of("free-lock", "throughput", "waits", "cost")) {
            assertThat(page).contains("src=\"../images/bench-redis-" + picture + ".svg\"");
            assertThat(Files.readString(images.resolve("bench-redis-" + picture + ".svg")))
                    .contains("<svg");
            assertThat(Files.size(images.resolve("bench-redis-" + picture + ".png")))
                    .isGreaterThan(1_000);
        }
    }

    @Test
    void theFileOfAStoreHasNothingOfTheOthers() throws IOException {
        add(StoreKind.SQLITE, Peers.HOLDFAST, Workload.OWN_1, 1_000, 0);
        results.setting("Machine", "2 cores");
        MeasuredFile.write(folder, results, StoreKind.SQLITE, "./holdfast bench");
        assertThat(Files.readString(folder.resolve("sqlite.tsv")))
                .contains("Run\tMachine\t\t2 cores", "SQLite, 10,000 renewed holds")
                .doesNotContain("Redis", "MariaDB");
    }

    @Test
    void aLaterRunOfOneStoreLeavesTheOthersOnThePage() throws IOException {
        MeasuredPage.write(folder, results, List.of(StoreKind.REDIS), "./holdfast bench --only redis");
        add(StoreKind.SQLITE, Peers.HOLDFAST, Workload.OWN_1, 1_000, 0);
        MeasuredPage.write(folder, results, List.of(StoreKind.SQLITE), "./holdfast bench --only sqlite");
        assertThat(Files.readString(folder.resolve("index.html"))).contains("--only redis<", "--only sqlite<");
    }

    @Test
    void whatBreaksAndWhatGrowsHasTablesOfItsOwn() {
        results.figure(Outage.HOLDER_KILLED.figure(StoreKind.REDIS, Peers.of("redisson", StoreKind.REDIS)), 29.9);
        results.figure(Outage.HOLDER_STOPPED.figure(StoreKind.REDIS, Peers.of("redisson", StoreKind.REDIS)), 90);
        results.grow(new Growth(StoreKind.REDIS, Duration.ofSeconds(60), 2_000, 1e6, 12e6, Map.of("keys", 345.0)));
        Map<String, Table> tables = Beyond.tables(results, StoreKind.REDIS);
        assertThat(row(tables.get(OutageTable.TITLE).toText(), "redisson")).contains("29.90", "more than 90", "–");
        assertThat(row(tables.get(GrowthTable.TITLE).toText(), "60.0")).contains("2,000", "1.00", "12.00", "345");
        assertThat(Beyond.tables(results, StoreKind.SQLITE)).isEmpty();
    }

    @Test
    void programsReadEveryRound() throws IOException {
        Path file = folder.resolve("results.json");
        JsonFile.write(file, results);
        assertThat(Files.readString(file))
                .contains("\"settings\":{\"Redis\":\"Redis 7\"}")
                .contains("\"store\":\"redis\",\"workload\":\"one-2x16\",\"peer\":\"redisson-fair\"")
                .contains("\"lost\":3");
        assertThat(JsonFile.text(List.of(true, 1, "a"))).isEqualTo("[true,1,\"a\"]");
        assertThat(JsonFile.text("a \"b\"\n\\")).isEqualTo("\"a \\\"b\\\"\\u000a\\\\\"");
    }

    @Test
    void columnsAreStraight() {
        Table table = new Table(List.of("", "n")).row(List.of("a", "1")).row(List.of("long", "1,000"));
        assertThat(table.toText().lines()).containsExactly("             n", "  a          1", "  long   1,000");
        assertThatThrownBy(() -> table.row(List.of("a"))).isInstanceOf(IllegalArgumentException.class);
    }

    private void add(String peer, String workload, double perSecond, long lost) {
        add(StoreKind.REDIS, peer, workload, perSecond, lost);
    }

    private void add(StoreKind store, String peer, String workload, double perSecond, long lost) {
        Histogram waits = new Histogram(3);
        waits.recordValueWithCount((long) (1e9 / perSecond), 1_000);
        Map<Timing, Histogram> timings = new EnumMap<>(Timing.class);
        for (Timing timing : Timing.values()) {
            timings.put(timing, waits);
        }
        Sample sample = new Sample(perSecond, 1, timings, lost, 0, 0, 0, 0, 1, 1, Map.of("scripts", 2.0));
        results.add(
                new Cell(store, workload(workload), Peers.of(peer, store), List.of(sample, sample), Optional.empty()));
    }

    private static Cell cell(String workload, String peer, double unserved) {
        Sample sample = new Sample(1, 1, Map.of(), 0, 0, 0, unserved, 0, 1, 1, Map.of());
        return new Cell(
                StoreKind.REDIS,
                workload(workload),
                Peers.of(peer, StoreKind.REDIS),
                List.of(sample, sample),
                Optional.empty());
    }

    private static Workload workload(String id) {
        return Workload.upTo(Workload.Tier.FULL).stream()
                .filter(workload -> workload.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    private static String row(String table, String beginning) {
        return table.lines()
                .filter(line -> line.startsWith("  " + beginning))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no row " + beginning + " in\n" + table));
    }
}
