package dev.holdfast.redis;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.fuzz.StoreFuzz;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import dev.holdfast.testbed.ServerProcess;
import dev.holdfast.testbed.Started;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Random histories on a server that keeps all its data. */
class RedisFuzzTest extends StoreFuzz {
    private static final long SOON_MILLIS = 1_000;

    @Started({"--appendonly", "yes", "--appendfsync", "always"})
    private static RedisServer server;

    @Override
    protected Store open(StoreContext context, int port, int client) {
        return new RedisStoreProvider().open("redis://127.0.0.1:" + port + "?timeout=3s", context);
    }

    @Override
    protected OptionalInt port() {
        return OptionalInt.of(server.port());
    }

    @Override
    protected Optional<ServerProcess> process() {
        return Optional.of(server.process());
    }

    /**
     * The third in a queue polls after three seconds and up to a quarter more. Those before it that are dead, and had
     * not subscribed yet, are offered the lock for a second then.
     */
    @Override
    protected Duration passesTheDead() {
        return Duration.ofSeconds(5);
    }

    @Override
    protected Duration ahead() {
        return Duration.ofMillis(100);
    }

    /** None while a key is about to go by itself, as that of a lock does when its lease ends. */
    @Override
    protected Optional<String> fingerprint(String prefix) {
        StringBuilder all = new StringBuilder();
        try (RespConnection redis = server.connect()) {
            for (int name = 0; name < 3; name++) {
                String key = "holdfast:{" + prefix + name + "}";
                long left = Long.parseLong(redis.call("PTTL", key));
                if (left >= 0 && left < SOON_MILLIS) {
                    return Optional.empty();
                }
                all.append(redis.call("GET", key));
                all.append(redis.call("ZRANGE", key + ":q", "0", "-1")); // without the deadlines, which polls move
                all.append(redis.call("ZRANGE", key + ":h", "0", "-1", "WITHSCORES"));
                all.append(redis.call("HGETALL", key + ":w"));
            }
        }
        return Optional.of(all.toString());
    }

    @Override
    protected List<String> regressions() {
        return List.of(
                "1: 0 try 0 0 P1/2 100; 1 try 0 1 P1/2 2000; 0 pass 0 0 - 160; 2 status 0 0 - 0; 2 try 0 2 P1/2 600",
                "1: 0 try 0 0 P1/2 2000; 0 renew 0 0 - 100; 0 pass 0 0 - 160; 1 revoke 0 0 - 100; 2 try 0 1 P2/2 300",
                "1: 0 try 0 0 P1/2 2000; 1 wait 0 1 P2/2 2000; 1 kill 0 0 - 0; 2 wait 0 2 P1/2 2000",
                "1: 0 try 0 0 S 2000; 1 wait 0 1 X 2000; 1 kill 0 0 - 0; 2 wait 0 2 S 2000",
                "1: 0 try 0 0 S 2000; 1 try 0 1 S 100; 0 pass 0 0 - 160; 2 break 0 0 - 0; 2 try 0 2 X 1000",
                "1: 2 wait 0 1 X 6000; 1 deaf 0 0 - 50; 1 break 0 0 - 2500",
                "1: 0 try 0 0 X 6000; 1 wait 0 1 X 6000; 0 stop 0 0 - 6000; 0 renew 0 0 - 6000");
    }
}
