package dev.holdfast.redis;

import static dev.holdfast.testbed.OrSkip.orSkip;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Compose and swarm name hosts as Java's own URLs may not be: with underscores, and with labels that begin with a digit. */
@Timeout(120)
@Tag("thorough")
class HostNamesTest {
    @TempDir
    Path folder;

    @Test
    void aHostThatOnlyAFileOfHostsKnowsIsConnectedTo() throws Exception {
        Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.0.1 my_redis redis.1.x9\n");
        try (RedisServer server = orSkip(() -> RedisServer.start());
                ChildProcess child = ChildJvm.main(Client.class)
                        .flags("-Djdk.net.hosts.file=" + hosts)
                        .args("redis://my_redis:" + server.port(), "redis://redis.1.x9:" + server.port())
                        .start()) {
            child.expect("held on redis://my_redis:" + server.port(), Duration.ofSeconds(60));
            child.expect("held on redis://redis.1.x9:" + server.port(), Duration.ofSeconds(60));
        }
    }

    /** The child: its machine has a file of hosts of its own. */
    static final class Client {
        private Client() {}

        public static void main(String[] urls) throws InterruptedException {
            for (String url : urls) {
                try (LockClient client = LockClient.connect(url);
                        Hold hold = client.lock("x").acquire()) {
                    System.out.println("held on " + client.store() + (hold.isValid() ? "" : " no more"));
                }
            }
        }
    }
}
