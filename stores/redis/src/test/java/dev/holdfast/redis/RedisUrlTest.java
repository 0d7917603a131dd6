package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lettuce.core.RedisCredentials;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedisUrlTest {
    @ParameterizedTest
    @CsvSource({
        "redis://host, redis://host:6379",
        "redis://host:7/3, redis://host:7/3",
        "redis://host/0, redis://host:6379",
        "redis://user:secret@host/, redis://host:6379",
        "rediss://:secret@host:1, rediss://host:1",
        "REDIS://[::1]:7, redis://[::1]:7",
        "redis://host?timeout=250ms, redis://host:6379",
        "redis://my_redis:6379, redis://my_redis:6379",
        "redis://me:s_e@cache_1.stack_app/2, redis://cache_1.stack_app:6379/2",
        "redis://redis.1.x9, redis://redis.1.x9:6379", // a task of a swarm
        "redis://[fe80::1%25eth0]:7, redis://[fe80::1%25eth0]:7",
        "'rediss-cluster://:secret@my_a:1,my_b', 'rediss-cluster://my_a:1,my_b:6379'",
        "'redis-sentinel://my_a,my_b:7/my_master', 'redis-sentinel://my_a:26379,my_b:7/my_master'",
        "'quorum:redis://my_a,redis://my_b,redis://my_c:1',"
                + " 'quorum:redis://my_a:6379,redis://my_b:6379,redis://my_c:1'",
    })
    void isShownWithoutSecrets(String url, String shown) {
        RedisUrl parsed = RedisUrl.parse(url, Optional.empty());
        assertThat(parsed.description()).isEqualTo(shown);
    }

    @Test
    void userAndPasswordAreDecoded() {
        assertThat(credentials("redis://us%40er:p%2Fa+s%3As@host", Optional.of("beside")))
                .isEqualTo("us@er p/a+s:s");
        assertThat(credentials("redis://:secret@host", Optional.empty())).isEqualTo("null secret");
        assertThat(credentials("redis://user@host", Optional.of("beside"))).isEqualTo("user beside");
        assertThat(credentials("redis://host", Optional.of("beside"))).isEqualTo("null beside");
        assertThat(credentials("redis://host", Optional.empty())).isEqualTo("null null");
    }

    @Test
    void theTimeoutIsFiveSecondsUnlessItIsGiven() {
        assertThat(RedisUrl.parse("redis://host", Optional.empty()).timeout()).isEqualTo(Duration.ofSeconds(5));
        assertThat(RedisUrl.parse("redis://host?timeout=2s", Optional.empty()).timeout())
                .isEqualTo(Duration.ofSeconds(2));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis:",
                "redis://",
                "redis:host",
                "redis://:6379",
                "redis://host:port",
                "redis://host:0",
                "redis://host:65536",
                "redis://s3cret host",
                "redis://me:s3cret/x@host",
                "redis://me:s3%zzcret@host",
                "redis://me@host",
                "redis://me:s3cret@host/db",
                "redis://me:s3cret@host/1/2",
                "redis://me:s3cret@host/-1",
                "redis://me:s3cret@host#x",
                "redis://me:s3cret@host?s3cret",
                "redis://me:s3cret@host?tls=true",
                "redis://me:s3cret@host?timeout=0s",
                "redis://me:s3cret@host?timeout=fast",
                "redis://me:s3cret@host?cacert=/etc/passwd",
                "rediss://me:s3cret@host?cacert=/no/such/file",
            })
    void whatIsWrongIsRefusedAndNotShown(String url) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedisUrl.parse(url, Optional.empty()))
                .withMessageNotContaining("s3cret")
                .withNoCause();
    }

    private static String credentials(String url, Optional<String> beside) {
        RedisCredentials found = RedisUrl.parse(url, beside)
                .uri()
                .getCredentialsProvider()
                .resolveCredentials()
                .block();
        return found.getUsername() + " " + (found.getPassword() == null ? null : new String(found.getPassword()));
    }
}
