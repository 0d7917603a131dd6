package dev.holdfast.bench.trial;

import dev.holdfast.bench.run.Schedule;
import dev.holdfast.bench.trial.WireTimes.Place;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.RedisServer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/**
 * What a free lock costs on Redis. All ways run in one JVM, and each turn draws one of them, so that all have the same heat
 * and the same processor; each turn has a lock of its own. A pause of 0 to 20 ms, the lock (which is measured), 2 ms with it.
 *
 * <pre>
 *   caller       call ── bell ─┐                                            ┌─ running
 *   event loop                 └─ drain ── written ─┐         ┌─ read ── wake ┘
 *   server                                          └─ works ─┘
 * </pre>
 *
 * <p>Each column of a place is the median time since the place before it that was noted. With many threads only the whole is
 * measured, since the places would be those of any turn.
 *
 * <p>That JVM is young: most of what a lock needs has not been compiled for good in it. So the same follows in one that has taken
 * many locks before, as a service has after some minutes; then in one that only interprets, which counts the steps of a way;
 * and last come the first turns in new JVMs, each with one way.
 */
public final class FreeLockTrial {
    private static final int MOST_PAUSE_MICROS = 20_000;
    private static final Duration HOLD = Duration.ofMillis(2);
    private static final Duration AGE = Duration.ofSeconds(2);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int MANY = 16;
    private static final int FIRST_TURNS = 60;
    /** Of each way, without a pause: the second compiler is done with what they need. */
    private static final int TURNS_OF_A_SERVICE = 12_000;

    private static final int NEW_JVMS = 5;
    private static final double MICROS = 1e3;
    private static final List<FreeLockWay> LIBRARIES =
            List.of(FreeLockWay.SET, FreeLockWay.HOLDFAST, FreeLockWay.REDISSON);

    /** The times of one way, in nanoseconds. */
    private static final class Times {
        final List<Long> whole = new ArrayList<>();
        /** Of each place, the time since the one before it that was noted. */
        final Map<Place, List<Long>> steps = new EnumMap<>(Place.class);

        void add(Times other) {
            whole.addAll(other.whole);
            other.steps.forEach((place, times) -> stepsTo(place).addAll(times));
        }

        /** A turn that was called and passed the places at these times. */
        void add(long call, Map<Place, Long> passed) {
            long before = call;
            for (Map.Entry<Place, Long> each : passed.entrySet()) {
                stepsTo(each.getKey()).add(each.getValue() - before);
                before = each.getValue();
            }
            whole.add(before - call); // the last place is where the caller goes on
        }

        List<Long> stepsTo(Place place) {
            return steps.computeIfAbsent(place, any -> new ArrayList<>());
        }

        double median() {
            return Trial.quantile(whole, 0.5) / MICROS;
        }
    }

    private final WireTimes wire = new WireTimes();
    private final Map<FreeLockWay, FreeLockWay.Client> clients = new EnumMap<>(FreeLockWay.class);

    private FreeLockTrial(String url, List<FreeLockWay> ways) {
        ways.forEach(way -> clients.put(way, way.connect(url, wire)));
    }

    /** Prints a table for each kind of run; nothing is promised, so nothing is judged. */
    static boolean run() throws Exception {
        Trial.describe("pause 0 to 20 ms, each lock once, held for 2 ms; times in µs");
        try (RedisServer server = RedisServer.start()) {
            ownJvm(server, "in a young JVM", 0, new Run(1, 8, 18), new Run(MANY, 2, 10));
            ownJvm(
                    server,
                    "after " + TURNS_OF_A_SERVICE + " turns of each way",
                    TURNS_OF_A_SERVICE,
                    new Run(1, 2, 18),
                    new Run(MANY, 2, 10));
            ownJvm(server, "interpreted (`-Xint`)", 0, new Run(1, 2, 10));
            newJvms(server);
        }
        return true;
    }

    /** Turns of so many threads, which are measured after a warm-up. */
    private record Run(int threads, int warmUpSeconds, int seconds) {}

    /** One JVM, with these runs one after the other. */
    private static void ownJvm(RedisServer server, String jvm, int before, Run... runs) {
        List<String> args = new ArrayList<>(List.of(server.uri(), String.valueOf(before)));
        for (Run run : runs) {
            args.add(run.threads + "," + run.warmUpSeconds + "," + run.seconds);
        }
        try (ChildProcess child = ChildJvm.main(FreeLockTrial.class)
                .flags("-XX:TieredStopAtLevel=4")
                .flags(jvm.contains("-Xint") ? new String[] {"-Xint"} : new String[0])
                .args(args.toArray(String[]::new))
                .start()) {
            child.expect("done", PATIENCE);
            List<String> rows =
                    child.lines().stream().filter(line -> line.startsWith("|")).toList();
            int ways = FreeLockWay.values().length;
            for (int i = 0; i < runs.length; i++) {
                head((runs[i].threads == 1 ? "one thread, " : runs[i].threads + " threads, ") + jvm);
                rows.subList(i * ways, (i + 1) * ways).forEach(System.out::println);
            }
        }
    }

    private static void newJvms(RedisServer server) {
        System.out.printf(
                "%n%d new JVMs for each way, %d turns in each from its third second on%n%n", NEW_JVMS, FIRST_TURNS);
        Map<FreeLockWay, List<Long>> times = new EnumMap<>(FreeLockWay.class);
        for (int i = 0; i < NEW_JVMS; i++) {
            for (FreeLockWay way : LIBRARIES) {
                try (ChildProcess child = ChildJvm.main(FreeLockTrial.class)
                        .flags("-XX:TieredStopAtLevel=4")
                        .args(server.uri(), way.name())
                        .start()) {
                    String line = child.expect("times ", PATIENCE);
                    Stream.of(line.substring("times ".length()).split(" "))
                            .map(Long::valueOf)
                            .forEach(times.computeIfAbsent(way, any -> new ArrayList<>())::add);
                }
            }
        }
        Trial.head("way", "median", "99 %", "beside Redisson");
        double redisson = Trial.quantile(of(times, FreeLockWay.REDISSON), 0.5) / MICROS;
        times.forEach((way, all) -> Trial.row(
                way.title,
                micros(Trial.quantile(all, 0.5)),
                micros(Trial.quantile(all, 0.99)),
                ratio(Trial.quantile(all, 0.5) / MICROS / redisson)));
    }

    /** A JVM of its own: URL TURNS-BEFORE THREADS,WARM-UP,SECONDS…, or URL WAY. */
    public static void main(String[] args) throws Exception {
        if (args.length == 2) {
            firstTurns(args[0], FreeLockWay.valueOf(args[1]));
        } else {
            FreeLockTrial trial = new FreeLockTrial(args[0], List.of(FreeLockWay.values()));
            trial.turnsWithoutPause(Integer.parseInt(args[1]));
            for (String run : List.of(args).subList(2, args.length)) {
                String[] numbers = run.split(",");
                int threads = Integer.parseInt(numbers[0]);
                trial.turns(threads, Duration.ofSeconds(Long.parseLong(numbers[1])));
                trial.print(trial.turns(threads, Duration.ofSeconds(Long.parseLong(numbers[2]))), threads == 1);
            }
            trial.close();
        }
        System.out.println("done");
        System.exit(0);
    }

    private static void firstTurns(String url, FreeLockWay way) throws Exception {
        FreeLockTrial trial = new FreeLockTrial(url, List.of(way));
        long age = ManagementFactory.getRuntimeMXBean().getUptime();
        Schedule.pause(AGE.minusMillis(Math.min(age, AGE.toMillis())));
        Times times = new Times();
        for (int i = 0; i < FIRST_TURNS; i++) {
            trial.turn(way, times);
        }
        StringBuilder line = new StringBuilder("times");
        times.whole.forEach(time -> line.append(' ').append(time));
        System.out.println(line);
    }

    private void turnsWithoutPause(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            for (FreeLockWay way : FreeLockWay.values()) {
                of(clients, way).take(way + ":before:" + i).run();
            }
        }
    }

    private void close() {
        clients.values().forEach(FreeLockWay.Client::close);
    }

    private Map<FreeLockWay, Times> turns(int threads, Duration length) throws Exception {
        long end = System.nanoTime() + length.toNanos();
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<Map<FreeLockWay, Times>>> tasks = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                tasks.add(() -> turnsUntil(end));
            }
            Map<FreeLockWay, Times> all = noTimes();
            for (Future<Map<FreeLockWay, Times>> part : pool.invokeAll(tasks)) {
                part.get().forEach((way, times) -> of(all, way).add(times));
            }
            return all;
        } finally {
            pool.shutdown();
        }
    }

    private Map<FreeLockWay, Times> turnsUntil(long end) throws Exception {
        Map<FreeLockWay, Times> times = noTimes();
        FreeLockWay[] ways = FreeLockWay.values();
        while (System.nanoTime() - end < 0) {
            FreeLockWay way = ways[ThreadLocalRandom.current().nextInt(ways.length)];
            turn(way, of(times, way));
        }
        return times;
    }

    private static <T> T of(Map<FreeLockWay, T> all, FreeLockWay way) {
        return Objects.requireNonNull(all.get(way));
    }

    private static Map<FreeLockWay, Times> noTimes() {
        Map<FreeLockWay, Times> none = new EnumMap<>(FreeLockWay.class);
        for (FreeLockWay way : FreeLockWay.values()) {
            none.put(way, new Times());
        }
        return none;
    }

    private void turn(FreeLockWay way, Times times) throws Exception {
        String lock = way + ":" + ThreadLocalRandom.current().nextLong(Long.MAX_VALUE);
        FreeLockWay.Client client = of(clients, way);
        Schedule.pause(Duration.ofNanos(1_000L * ThreadLocalRandom.current().nextInt(MOST_PAUSE_MICROS)));
        wire.begin();
        long call = System.nanoTime();
        Runnable release = client.take(lock);
        times.add(call, wire.passed(System.nanoTime()));
        Schedule.pause(HOLD);
        release.run();
    }

    private void print(Map<FreeLockWay, Times> times, boolean alone) {
        double bare = of(times, FreeLockWay.SET).median();
        double redisson = of(times, FreeLockWay.REDISSON).median();
        times.forEach((way, all) -> {
            List<String> row = new ArrayList<>(List.of(
                    way.title,
                    micros(Trial.quantile(all.whole, 0.5)),
                    micros(Trial.quantile(all.whole, 0.99)),
                    ratio(all.median() / bare),
                    ratio(all.median() / redisson)));
            for (Place place : Place.values()) {
                List<Long> steps = all.stepsTo(place);
                row.add(alone && !steps.isEmpty() ? micros(Trial.quantile(steps, 0.5)) : "–");
            }
            Trial.row(row.toArray());
        });
    }

    private static void head(String title) {
        System.out.printf("%n%s%n%n", title);
        Trial.head(
                "way",
                "median",
                "99 %",
                "beside `SET`",
                "beside Redisson",
                "call to bell",
                "drain",
                "written",
                "read",
                "wake",
                "running");
    }

    private static String micros(double nanos) {
        return "%.0f".formatted(nanos / MICROS);
    }

    private static String ratio(double figure) {
        return "%.2f".formatted(figure);
    }
}
