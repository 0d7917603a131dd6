package dev.holdfast.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Scanner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Readers in processes of their own, one of which dies while it loads. The cache is in Redis, and compares tokens. */
@Tag("thorough")
class SingleFlightProcessTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofSeconds(8);

    private final RedisServer server = OrSkip.orSkip(() -> RedisServer.start());
    private final List<ChildProcess> processes = new ArrayList<>();

    @AfterEach
    void stop() {
        processes.forEach(ChildProcess::close);
        server.close();
    }

    @Test
    void aReaderThatDiesWhileItLoadsIsFollowedByTheNext() {
        ChildProcess dying = reader("dying", "hangs");
        List<ChildProcess> others = List.of(reader("b", "loads"), reader("c", "loads"), reader("d", "loads"));
        dying.send("read");
        dying.expect("loading", PATIENCE);
        others.forEach(reader -> reader.send("read"));

        dying.kill();

        List<String> values = others.stream()
                .map(reader -> reader.expect("value ", PATIENCE))
                .distinct()
                .toList();
        assertThat(values)
                .as("one of them has loaded, the others have read that")
                .hasSize(1);
        assertThat(values.get(0)).isIn("value b", "value c", "value d");
    }

    private ChildProcess reader(String name, String manner) {
        ChildProcess reader = ChildJvm.main(Reader.class)
                .args(server.uri(), Integer.toString(server.port()), name, manner)
                .start();
        processes.add(reader);
        reader.expect("ready", PATIENCE);
        return reader;
    }

    /** What runs in each process. */
    static final class Reader {
        private Reader() {}

        public static void main(String[] args) throws InterruptedException {
            try (LockClient client = LockClient.connect(args[0]);
                    RespConnection redis = RespConnection.open(Integer.parseInt(args[1]), PATIENCE)) {
                SingleFlight<String> pages = SingleFlight.of(
                        client,
                        "page",
                        new RedisCache(redis),
                        HoldOptions.defaults().lease(LEASE));
                Scanner in = new Scanner(System.in, "UTF-8");
                System.out.println("ready");
                in.nextLine();
                System.out.println("value "
                        + pages.get("home", key -> {
                            System.out.println("loading");
                            if (args[3].equals("hangs")) {
                                in.nextLine();
                            }
                            return args[2];
                        }));
            }
        }
    }

    private record RedisCache(RespConnection redis) implements SharedCache<String> {
        /** Tokens are compared as text of equal length: Lua's numbers cannot tell neighbours of 19 digits apart. */
        private static final String PUT = "local had = redis.call('HGET', KEYS[1], 'token') or ''"
                + " if had <= ARGV[2] then redis.call('HSET', KEYS[1], 'value', ARGV[1], 'token', ARGV[2]) end";

        @Override
        public Optional<Cached<String>> get(String key) {
            return Optional.of(redis.call("HGET", "cache:" + key, "value"))
                    .filter(value -> !value.equals("(nil)"))
                    .map(Cached::fresh);
        }

        @Override
        public void put(String key, String value, long token) {
            redis.call("EVAL", PUT, "1", "cache:" + key, value, String.format("%019d", token));
        }
    }
}
