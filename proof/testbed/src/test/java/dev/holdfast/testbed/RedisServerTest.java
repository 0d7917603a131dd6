package dev.holdfast.testbed;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RedisServerTest {
    @Test
    void aKilledServerComesBackOnTheSamePortWithoutWhatItDidNotKeep() {
        try (RedisServer redis = orSkip(RedisServer::start)) {
            set(redis, "lock", "mine");
            int port = redis.port();
            redis.process().kill();
            assertThat(redis.process().isAlive()).isFalse();
            assertThatThrownBy(redis::connect).isInstanceOf(UncheckedIOException.class);
            redis.process().restart();
            assertThat(redis.port()).isEqualTo(port);
            assertThat(get(redis, "lock")).isEqualTo("(nil)");
        }
    }

    @Test
    void aKilledServerComesBackWithWhatItKeptInItsFolder() {
        try (RedisServer redis = orSkip(() -> RedisServer.start("--appendonly", "yes", "--appendfsync", "always"))) {
            set(redis, "lock", "mine");
            redis.process().restart();
            assertThat(get(redis, "lock")).isEqualTo("mine");
        }
    }

    @Test
    void aStoppedServerAnswersOnlyWhenContinued() {
        try (RedisServer redis = orSkip(RedisServer::start);
                RespConnection client = redis.connect();
                RespConnection impatient = RespConnection.open(redis.port(), Duration.ofMillis(50))) {
            redis.process().stop();
            assertThatThrownBy(() -> impatient.call("PING")).isInstanceOf(UncheckedIOException.class);
            client.send("SET", "lock", "mine");
            redis.process().cont();
            assertThat(client.receive()).isEqualTo("OK");
            assertThat(client.call("GET", "lock")).isEqualTo("mine");
        }
    }

    @Test
    void repliesOfAllKindsAreText() {
        try (RedisServer redis = orSkip(RedisServer::start);
                RespConnection client = redis.connect()) {
            assertThat(redis.uri()).isEqualTo("redis://127.0.0.1:" + redis.port());
            assertThat(client.call("INCR", "n")).isEqualTo("1");
            assertThat(client.call("SET", "s", "grüße\r\n")).isEqualTo("OK");
            assertThat(client.call("GET", "s")).isEqualTo("grüße\r\n");
            assertThat(client.call("MGET", "n", "none")).isEqualTo("[1, (nil)]");
            assertThatThrownBy(() -> client.call("NONSENSE"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("unknown command");
            // The connection is still in step after an error.
            assertThat(client.call("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void aReplicaFollowsThroughAProxyUntilTheLinkIsHeld() {
        try (RedisServer master = orSkip(RedisServer::start);
                TcpProxy link = TcpProxy.to(master.port());
                RedisServer replica = orSkip(() -> RedisServer.start("--replicaof", "127.0.0.1 " + link.port()));
                RespConnection toMaster = master.connect();
                RespConnection toReplica = replica.connect()) {
            toMaster.call("SET", "before", "1");
            assertThat(Await.until(
                            Duration.ofSeconds(20),
                            () -> toReplica.call("GET", "before").equals("1")))
                    .isTrue();
            link.toClient().hold();
            toMaster.call("SET", "after", "1");
            link.toClient().awaitBite(Duration.ofSeconds(20));
            master.process().kill();
            toReplica.call("REPLICAOF", "NO", "ONE");
            assertThat(toReplica.call("GET", "before")).isEqualTo("1");
            assertThat(toReplica.call("GET", "after")).isEqualTo("(nil)");
        }
    }

    private static void set(RedisServer redis, String key, String value) {
        assertThat(redis.call("SET", key, value)).isEqualTo("OK");
    }

    private static String get(RedisServer redis, String key) {
        return redis.call("GET", key);
    }
}
