package dev.holdfast.flashsale;

import static dev.holdfast.testbed.OrSkip.orSkip;

import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.ZooKeeperServer;
import org.junit.jupiter.api.Test;

/**
 * The comparison on the other stores too. {@code ./dev guards} runs it, no other run does, and prints the tables of
 * docs/choosing-a-store.md.
 */
class ComparisonOnEachStore extends ComparisonTest {
    @Test
    void onTheEmbeddedStore() throws Exception {
        compare("sqlite", null, "query-and-occupy");
    }

    @Test
    void onAQuorumOfRedisServers() throws Exception {
        try (RedisQuorum quorum = new RedisQuorum()) {
            compare("quorum", quorum.url(), "none");
        }
    }

    @Test
    void onPostgres() throws Exception {
        try (PostgresServer postgres = orSkip(PostgresServer::start)) {
            compare("postgresql", postgres.jdbcUrl(), "unique-row");
        }
    }

    @Test
    void onMariaDb() throws Exception {
        try (MariaDbServer mariaDb = orSkip(MariaDbServer::start)) {
            compare("mariadb", mariaDb.jdbcUrl(), "none");
        }
    }

    @Test
    void onZooKeeper() throws Exception {
        try (ZooKeeperServer zooKeeper = orSkip(ZooKeeperServer::start)) {
            compare("zookeeper", "zk://" + zooKeeper.connectString(), "none");
        }
    }

    @Test
    void onEtcd() throws Exception {
        try (EtcdServer etcd = orSkip(EtcdServer::start)) {
            compare("etcd", "etcd://" + etcd.endpoint(), "put-if-absent");
        }
    }

    @Test
    void onMemcached() throws Exception {
        try (MemcachedServer memcached = orSkip(MemcachedServer::start)) {
            compare("memcached", "memcached://" + memcached.endpoint(), "add");
        }
    }
}
