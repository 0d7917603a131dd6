package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisCluster;
import dev.holdfast.testbed.RedisServer;
import org.junit.jupiter.api.Test;

/** A quorum that is set up wrongly, or that has no majority. */
class QuorumRefusalTest extends QuorumCase {
    @Test
    void oneServerUnderTwoNamesIsRefused() {
        String twice = "quorum:" + servers.get(0).uri() + ",redis://localhost:"
                + servers.get(0).port() + "," + servers.get(1).uri();

        assertThatThrownBy(() -> open(twice))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("names one server twice");
    }

    @Test
    void aMemberThatRefusesIsReportedWhenTheStoreIsOpened() {
        String wrong = "quorum:" + servers.get(0).uri() + ",redis://nobody:secret@127.0.0.1:"
                + servers.get(1).port() + "," + servers.get(2).uri();

        assertThatThrownBy(() -> open(wrong))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("password");
    }

    @Test
    void aMemberThatIsANodeOfAClusterIsRefused() {
        RedisServer node = opened(OrSkip.orSkip(RedisCluster::startAlone));

        assertThatThrownBy(() -> open(withThird(node)))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("node of a cluster");
    }

    @Test
    void aMemberThatIsAReplicaIsRefused() {
        RedisServer replica = opened(OrSkip.orSkip(() -> RedisServer.start(
                "--replicaof", "127.0.0.1", Integer.toString(servers.get(2).port()))));

        assertThatThrownBy(() -> open(withThird(replica)))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("replica");
    }

    private String withThird(RedisServer member) {
        return "quorum:" + servers.get(0).uri() + "," + servers.get(1).uri() + "," + member.uri();
    }

    @Test
    void withoutAMajorityNothingIsOpened() {
        servers.get(0).process().kill();
        servers.get(2).process().kill();

        assertThatThrownBy(this::open)
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("only 1 of the 3 members");
    }
}
