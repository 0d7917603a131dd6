package dev.holdfast.redis;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.tck.FrozenLayout;
import dev.holdfast.tck.FrozenLayout.Clock;
import dev.holdfast.tck.FrozenLeasesContract;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import dev.holdfast.testbed.Started;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

/** The layout of 0.1.0 on a single server. */
class FrozenLayoutTest extends FrozenLeasesContract {
    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|(\\S+)");

    @Started
    private static RedisServer server;

    @AutoClose
    private static RespConnection redis;

    @BeforeAll
    static void connect() {
        redis = server.connect();
    }

    @Override
    protected FrozenLayout layout() {
        return FrozenLayout.read("0.1.0/redis.txt", Map.of("now", new Clock(1_000_000, FrozenLayoutTest::time)));
    }

    @Override
    protected void empty() {
        redis.call("FLUSHALL");
    }

    @Override
    protected void run(String command) {
        redis.call(WORD.matcher(command)
                .results()
                .map(word -> word.group(1) == null ? word.group(2) : word.group(1))
                .toArray(String[]::new));
    }

    @Override
    protected List<String> stored() {
        List<String> commands = new ArrayList<>();
        for (String key : list("KEYS", "*")) {
            String left = redis.call("PTTL", key);
            switch (redis.call("TYPE", key)) {
                case "string" ->
                    commands.add("SET " + key + " " + word(redis.call("GET", key))
                            + (left.equals("-1") ? "" : " PX " + left));
                case "zset" ->
                    pairs("ZRANGE", key, "0", "-1", "WITHSCORES")
                            .forEach((member, score) -> commands.add("ZADD " + key + " " + score + " " + member));
                default ->
                    pairs("HGETALL", key)
                            .forEach((field, value) -> commands.add("HSET " + key + " " + field + " " + word(value)));
            }
            if (!redis.call("TYPE", key).equals("string")) {
                commands.add("PEXPIRE " + key + " " + left);
            }
        }
        return commands;
    }

    /** In microseconds, odd: then the deadline of the waiter says that it does not hear offers yet, and is offered the lock. */
    private static long time() {
        List<String> time = list("TIME");
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1)) | 1;
    }

    /** On which a client hears of offers and waiters. */
    @Override
    protected Map<String, String> own() {
        return Map.of("channel", "a-client-that-is-gone");
    }

    @Override
    protected Store open(StoreContext context) {
        return new RedisStoreProvider().open(server.uri(), context);
    }

    @Override
    protected StoreFence fence() {
        return new RedisStoreProvider().openFence(server.uri(), Optional.empty());
    }

    /** An offer stands for a second. */
    @Override
    protected Duration turn() {
        return Duration.ofMillis(900);
    }

    private static String word(String text) {
        return text.contains(" ") ? "\"" + text + "\"" : text;
    }

    private static List<String> list(String... command) {
        String all = redis.call(command);
        return List.of(all.substring(1, all.length() - 1).split(", "));
    }

    private static Map<String, String> pairs(String... command) {
        List<String> flat = list(command);
        Map<String, String> pairs = new TreeMap<>();
        for (int i = 0; i < flat.size(); i += 2) {
            pairs.put(flat.get(i), flat.get(i + 1));
        }
        return pairs;
    }
}
