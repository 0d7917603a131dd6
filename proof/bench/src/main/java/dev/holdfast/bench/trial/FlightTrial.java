package dev.holdfast.bench.trial;

import dev.holdfast.bench.run.Schedule;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Five hundred readers of one hot key in four processes, some of which are killed while they load it. */
final class FlightTrial {
    private static final int PROCESSES = 4;
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration POLL = Duration.ofMillis(5);
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double MEDIAN = 0.5;

    private final String url;
    private final RedisCommands<String, String> redis;
    private final boolean stale;
    private final List<ChildProcess> processes = new ArrayList<>();
    private int kills;

    FlightTrial(String url, RedisCommands<String, String> redis, boolean stale) {
        this.url = url;
        this.redis = redis;
        this.stale = stale;
    }

    static void head() {
        Trial.head(
                "single flight",
                "reads",
                "rebuilds, one per expiry",
                "beyond one per expiry",
                "loaders killed",
                "next value after a kill ms, median",
                "longest",
                "oldest value read ms",
                "promise",
                "longest wait ms");
    }

    boolean run(Duration length) {
        redis.flushall();
        try {
            for (int i = 0; i < PROCESSES; i++) {
                start();
            }
            processes.forEach(process -> process.expect("ready", PATIENCE));
            long end = System.nanoTime() + length.toNanos();
            while (System.nanoTime() - end < 0) {
                killLoader();
                Schedule.pause(POLL);
            }
            return judge();
        } finally {
            processes.forEach(ChildProcess::close);
        }
    }

    private void start() {
        processes.add(ChildJvm.main(FlightReaders.class)
                .flags("-XX:TieredStopAtLevel=4", "-Xmx256m")
                .args(url, Boolean.toString(stale))
                .start());
    }

    private void killLoader() {
        String pid = redis.get(FlightReaders.IN_FLIGHT);
        if (pid == null) {
            return;
        }
        redis.del(FlightReaders.IN_FLIGHT);
        ChildProcess loader = processes.stream()
                .filter(process -> Long.toString(process.pid()).equals(pid))
                .findFirst()
                .orElseThrow();
        redis.rpush(FlightReaders.LOG, "kill 0 " + System.nanoTime());
        loader.kill();
        kills++;
        processes.remove(loader);
        start();
    }

    private boolean judge() {
        Loads loads = Loads.of(redis.lrange(FlightReaders.LOG, 0, -1));
        long oldest = most(FlightReaders.AGES);
        Duration promise = stale ? FlightReaders.STALE_LIFE : FlightReaders.LIFE;
        Trial.row(
                stale ? "serving stale" : "waiting",
                redis.hvals(FlightReaders.READS).stream()
                        .mapToLong(Long::parseLong)
                        .sum(),
                loads.rebuilds,
                loads.surplus,
                kills,
                Trial.millis(loads.gaps, MEDIAN),
                Trial.millis(loads.gaps, 1),
                String.format("%.1f", oldest / NANOS_PER_MILLI),
                promise.toMillis(),
                String.format("%.1f", most(FlightReaders.WAITS) / NANOS_PER_MILLI));
        return loads.surplus == 0 && oldest < promise.toNanos() && kills > 0 && loads.gaps.size() >= kills - 1;
    }

    private long most(String hash) {
        return redis.hvals(hash).stream().mapToLong(Long::parseLong).max().orElseThrow();
    }

    /** What became of the loads, in the order in which they were noted. */
    private static final class Loads {
        final List<Long> gaps = new ArrayList<>();
        int rebuilds;
        int surplus;
        private boolean loading;
        private boolean killed;
        private long killedAt;
        private long expires = Long.MIN_VALUE;

        static Loads of(List<String> log) {
            Loads loads = new Loads();
            for (String line : log) {
                String[] words = line.split(" ");
                loads.note(words[0], Long.parseLong(words[2]));
            }
            return loads;
        }

        private void note(String event, long time) {
            switch (event) {
                case "begin" -> {
                    surplus += loading || time < expires ? 1 : 0;
                    loading = true;
                }
                case "kill" -> {
                    loading = false;
                    killed = true;
                    killedAt = time;
                }
                default -> {
                    rebuilds += expires == Long.MIN_VALUE ? 0 : 1;
                    loading = false;
                    expires = time + FlightReaders.LIFE.toNanos();
                    if (killed) {
                        gaps.add(time - killedAt);
                        killed = false;
                    }
                }
            }
        }
    }
}
