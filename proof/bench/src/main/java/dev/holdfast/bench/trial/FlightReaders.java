package dev.holdfast.bench.trial;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.bench.run.Schedule;
import dev.holdfast.recipes.Cached;
import dev.holdfast.recipes.SharedCache;
import dev.holdfast.recipes.SingleFlight;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** A process of readers of one hot key. It runs until it is killed, and keeps what it saw in Redis. */
final class FlightReaders {
    static final int THREADS = 125;
    static final Duration LIFE = Duration.ofMillis(500);
    static final Duration STALE_LIFE = Duration.ofMillis(1_500);
    static final Duration LEASE = Duration.ofSeconds(2);
    static final int KILLED_EVERY = 10;

    /** The numbers of all loads, the times of their beginnings and ends, and the process that is to be killed. */
    static final String LOADS = "trial:loads";

    static final String LOG = "trial:log";
    static final String IN_FLIGHT = "trial:in-flight";
    /** What the processes saw: readings, the oldest age, the longest wait. */
    static final String READS = "trial:reads";

    static final String AGES = "trial:ages";
    static final String WAITS = "trial:waits";

    private static final Duration LOADING = Duration.ofMillis(50);
    private static final Duration FOR_EVER = Duration.ofHours(1);
    /** A wait that begins earlier is that of a JVM that starts. */
    private static final Duration WARM_UP = Duration.ofSeconds(5);

    private static final Duration REPORT = Duration.ofMillis(100);
    private static final int SHORTEST_PAUSE = 20;
    private static final int LONGEST_PAUSE = 60;

    private final RedisCommands<String, String> redis;
    private final SingleFlight<String> flight;
    private final String self = Long.toString(ProcessHandle.current().pid());
    private final long warm = System.nanoTime() + WARM_UP.toNanos();
    private final LongAdder reads = new LongAdder();
    private final LongAccumulator oldest = new LongAccumulator(Math::max, Long.MIN_VALUE);
    private final LongAccumulator longest = new LongAccumulator(Math::max, 0);

    private FlightReaders(RedisCommands<String, String> redis, LockClient client, boolean stale) {
        this.redis = redis;
        SingleFlight<String> made = SingleFlight.of(
                client,
                "page",
                new Cache(redis, stale),
                HoldOptions.defaults().lease(LEASE).maxHold(FOR_EVER));
        this.flight = stale ? made.servingStale() : made;
    }

    public static void main(String[] args) throws InterruptedException {
        RedisClient server = RedisClient.create(args[0]);
        try (LockClient client = LockClient.connect(args[0])) {
            FlightReaders readers = new FlightReaders(server.connect().sync(), client, Boolean.parseBoolean(args[1]));
            for (int i = 0; i < THREADS; i++) {
                Thread reader = new Thread(readers::read, "reader-" + i);
                reader.setDaemon(true);
                reader.start();
            }
            System.out.println("ready");
            while (true) {
                Thread.sleep(REPORT.toMillis());
                readers.report();
            }
        }
    }

    private void read() {
        try {
            while (true) {
                long began = System.nanoTime();
                String value = flight.get("home", this::load);
                long loaded = Long.parseLong(value.split(":")[1]);
                if (began - warm > 0) {
                    longest.accumulate(System.nanoTime() - began);
                }
                oldest.accumulate(began - loaded);
                reads.increment();
                Thread.sleep(ThreadLocalRandom.current().nextInt(SHORTEST_PAUSE, LONGEST_PAUSE));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The number of the load, and when the value was true. */
    private String load(String key) {
        long number = redis.incr(LOADS);
        redis.rpush(LOG, "begin " + number + " " + System.nanoTime());
        if (number % KILLED_EVERY == 0) {
            redis.set(IN_FLIGHT, self);
            Schedule.pause(FOR_EVER);
        }
        Schedule.pause(LOADING);
        long now = System.nanoTime();
        redis.rpush(LOG, "end " + number + " " + now);
        return number + ":" + now;
    }

    private void report() {
        redis.hset(READS, self, Long.toString(reads.sum()));
        redis.hset(AGES, self, Long.toString(oldest.get()));
        redis.hset(WAITS, self, Long.toString(longest.get()));
    }

    /** A cache that says itself how old its value is, by a clock that all processes of a machine share. */
    private record Cache(RedisCommands<String, String> redis, boolean stale) implements SharedCache<String> {
        /** Tokens are compared as text of equal length: Lua's numbers cannot tell neighbours of 19 digits apart. */
        private static final String PUT = "local had = redis.call('HGET', KEYS[1], 'token') or ''"
                + " if had <= ARGV[2] then redis.call('HSET', KEYS[1], 'value', ARGV[1], 'token', ARGV[2]) end";

        @Override
        public Optional<Cached<String>> get(String key) {
            long now = System.nanoTime();
            String value = redis.hget("cache:" + key, "value");
            if (value == null) {
                return Optional.empty();
            }
            long age = now - Long.parseLong(value.split(":")[1]);
            if (age < LIFE.toNanos()) {
                return Optional.of(Cached.fresh(value));
            }
            return stale && age < STALE_LIFE.toNanos() ? Optional.of(new Cached<>(value, true)) : Optional.empty();
        }

        @Override
        public void put(String key, String value, long token) {
            redis.eval(
                    PUT, ScriptOutputType.STATUS, new String[] {"cache:" + key}, value, String.format("%019d", token));
        }
    }
}
