package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** URLs of more than one server. */
class MultiUrlTest {
    @Test
    void aClusterHasNodes() {
        RedisUrl url = parse("redis-cluster://u:p%40ss@one:7001,two,[::1]:7003?timeout=2s&acks=2");

        assertThat(url.kind()).isEqualTo(RedisUrl.Kind.CLUSTER);
        assertThat(url.servers())
                .extracting(NodeAddress::of)
                .containsExactly(
                        new NodeAddress("one", 7001), new NodeAddress("two", 6379), new NodeAddress("::1", 7003));
        assertThat(url.timeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(url.acks()).isEqualTo(2);
        assertThat(url.description()).isEqualTo("redis-cluster://one:7001,two:6379,[::1]:7003");
    }

    @Test
    void sentinelsNameAMaster() {
        RedisUrl url = parse("rediss-sentinel://:pw@one,two:5000/mymaster/3");

        assertThat(url.kind()).isEqualTo(RedisUrl.Kind.SENTINEL);
        assertThat(url.servers()).hasSize(1);
        assertThat(url.uri().getSentinelMasterId()).isEqualTo("mymaster");
        assertThat(url.uri().getDatabase()).isEqualTo(3);
        assertThat(url.uri().getSentinels())
                .extracting(NodeAddress::of)
                .containsExactly(new NodeAddress("one", 26379), new NodeAddress("two", 5000));
        assertThat(url.uri().getSentinels()).allMatch(sentinel -> sentinel.isSsl());
        assertThat(url.uri().isSsl()).isTrue();
        assertThat(url.description()).isEqualTo("rediss-sentinel://one:26379,two:5000/mymaster/3");
    }

    @Test
    void aQuorumHasServersWithOneSetOfParameters() {
        RedisUrl url = parse("quorum:redis://u:p%2Css@one,redis://two:7002/3,redis://[::1]:7003?timeout=2s");

        assertThat(url.kind()).isEqualTo(RedisUrl.Kind.QUORUM);
        assertThat(url.servers())
                .extracting(NodeAddress::of)
                .containsExactly(
                        new NodeAddress("one", 6379), new NodeAddress("two", 7002), new NodeAddress("::1", 7003));
        assertThat(url.timeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(url.description()).isEqualTo("quorum:redis://one:6379,redis://two:7002/3,redis://[::1]:7003");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "quorum:redis://one|not 1",
                "quorum:redis://one,redis://two|not 2",
                "quorum:redis://1,redis://2,redis://3,redis://4|odd number",
                "quorum:redis://one,redis://two,redis://one:6379|twice",
                "quorum:redis://one,redis://two,redis://one/1|twice",
                "quorum:redis://one,rediss://two,redis://three|all redis:// or all rediss://",
                "quorum:redis://one,redis-cluster://two,redis://three|URL of one server",
                "quorum:redis://one,two,three|URL of one server",
                "quorum:redis://one?timeout=1s,redis://two,redis://three|URL of one server",
                "quorum:|URL of one server",
                "quorum:redis://one,redis://two,redis://three?acks=1|leave acks out"
            })
    void aQuorumThatIsNoneIsRefused(String url, String hint) {
        assertThatIllegalArgumentException().isThrownBy(() -> parse(url)).withMessageContaining(hint);
    }

    @ParameterizedTest
    @CsvSource({
        "redis-sentinel://one,names the master",
        "redis-sentinel://one/,names the master",
        "redis-sentinel://one/m/x,number of a database",
        "redis-cluster://one/1,no databases but 0",
        "'redis-cluster://one,',not a URL",
        "redis-cluster://,not a URL",
        "redis-cluster://one:99999,port",
        "redis-cluster://one?retries=3,no other",
        "redis-cluster://one?acks=-1,acks",
        "redis-cluster://one#x,host"
    })
    void whatIsWrongIsSaid(String url, String hint) {
        assertThatIllegalArgumentException().isThrownBy(() -> parse(url)).withMessageContaining(hint);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis-sentinel://me:s3cret@one",
                "redis-sentinel://me:12345/s3cret@one/master",
                "redis-cluster://me:s3cret@one,two/7",
                "redis-cluster://me:s3cret@,",
                "quorum:redis://me:s3cret@one,redis://me:s3cret@two",
                "quorum:redis://me:s3cret@one,redis://me:s3,cret@two,redis://three",
                "quorum:redis://one?timeout=1s,redis://me:s3cret@two,redis://three"
            })
    void noMessageShowsASecret(String url) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse(url))
                .satisfies(refusal -> assertThat(refusal.getMessage())
                        .doesNotContain("s3cret")
                        .doesNotContain("me:"));
    }

    private static RedisUrl parse(String url) {
        return RedisUrl.parse(url, Optional.empty());
    }
}
