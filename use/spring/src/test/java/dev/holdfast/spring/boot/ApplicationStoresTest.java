package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.RedisCluster;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.ZooKeeperServer;
import io.etcd.jetcd.Client;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import net.spy.memcached.MemcachedClient;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/** Locks in the servers that the application is connected to already; closed before those connections are. */
class ApplicationStoresTest {
    private final ApplicationContextRunner application =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class));

    @Test
    void theDataSourceOfTheApplicationKeepsTheLocks() {
        try (PostgresServer postgres = OrSkip.orSkip(PostgresServer::start);
                LockClient other = LockClient.connect(postgres.jdbcUrl())) {
            keepsTheLocks(
                    application
                            .withConfiguration(AutoConfigurations.of(BootClasses.DATA_SOURCE))
                            .withPropertyValues(
                                    "spring.datasource.url=" + postgres.jdbcUrl(),
                                    "spring.datasource.hikari.maximum-pool-size=4"),
                    other);
        }
    }

    @Test
    void theLettuceClientOfTheApplicationKeepsTheLocks() {
        try (RedisServer redis = OrSkip.orSkip(RedisServer::start);
                LockClient other = LockClient.connect(redis.uri())) {
            keepsTheLocks(
                    application
                            .withConfiguration(AutoConfigurations.of(BootClasses.REDIS))
                            .withPropertyValues("spring.data.redis.url=" + redis.uri()),
                    other);
        }
    }

    @Test
    @Tag("thorough")
    void theLettuceClientOfAClusterKeepsTheLocks() {
        try (RedisCluster cluster = OrSkip.orSkip(() -> RedisCluster.start(3, 0));
                LockClient other = LockClient.connect("redis-cluster://" + cluster.hosts())) {
            keepsTheLocks(
                    application
                            .withConfiguration(AutoConfigurations.of(BootClasses.REDIS))
                            .withPropertyValues("spring.data.redis.cluster.nodes=" + cluster.hosts()),
                    other);
        }
    }

    @Test
    void theCuratorClientOfTheApplicationKeepsTheLocksUnderItsNamespaceAndItsRights() throws Exception {
        try (ZooKeeperServer zookeeper = OrSkip.orSkip(ZooKeeperServer::start);
                CuratorFramework curator = CuratorFrameworkFactory.builder()
                        .connectString(zookeeper.connectString())
                        .retryPolicy(new RetryForever(100))
                        .authorization("digest", "shop:secret".getBytes(StandardCharsets.UTF_8))
                        .aclProvider(new CreatorAll())
                        .build()) {
            curator.start();
            application
                    .withBean(CuratorFramework.class, () -> curator.usingNamespace("shop"), bean -> {
                        ((AbstractBeanDefinition) bean).setDestroyMethodName(""); // a view cannot be closed
                    })
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        try (Hold hold = context.getBean(LockClient.class)
                                .lock("order:42")
                                .acquire()) {
                            assertThat(hold.isValid()).isTrue();
                        }
                        assertThat(curator.getACL().forPath("/shop/holdfast/locks"))
                                .singleElement()
                                .satisfies(acl ->
                                        assertThat(acl.getId().getScheme()).isEqualTo("digest"));
                    });
        }
    }

    @Test
    void theEtcdClientOfTheApplicationKeepsTheLocks() {
        try (EtcdServer etcd = OrSkip.orSkip(EtcdServer::start);
                LockClient other = LockClient.connect("etcd://" + etcd.endpoint())) {
            keepsTheLocks(
                    application.withBean(
                            Client.class,
                            () -> Client.builder()
                                    .endpoints("http://" + etcd.endpoint())
                                    .build()),
                    other);
        }
    }

    @Test
    void theMemcachedClientOfTheApplicationKeepsTheLocks() {
        try (MemcachedServer memcached = OrSkip.orSkip(MemcachedServer::start);
                LockClient other = LockClient.connect("memcached://" + memcached.endpoint())) {
            keepsTheLocks(application.withBean(MemcachedClient.class, () -> connected(memcached.port())), other);
        }
    }

    private static MemcachedClient connected(int port) {
        try {
            return new MemcachedClient(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record CreatorAll() implements ACLProvider {
        @Override
        public List<ACL> getDefaultAcl() {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return getDefaultAcl();
        }
    }

    @Test
    void oneOfTwoStoresIsChosenByAProperty() {
        try (RedisServer redis = OrSkip.orSkip(RedisServer::start);
                LockClient other = LockClient.connect(redis.uri())) {
            keepsTheLocks(
                    application
                            .withConfiguration(AutoConfigurations.of(BootClasses.DATA_SOURCE, BootClasses.REDIS))
                            .withPropertyValues("holdfast.use=redis", "spring.data.redis.url=" + redis.uri()),
                    other);
        }
    }

    @Test
    void aDataSourceThatJoinsTheTransactionsOfItsCallersIsUnwrapped() {
        DriverManagerDataSource plain = new DriverManagerDataSource("jdbc:h2:mem:plain");
        DataSource joins = new TransactionAwareDataSourceProxy(plain);
        assertThat(StoreBean.SpringJdbc.ownConnections(joins)).isSameAs(plain);
        assertThat(StoreBean.SpringJdbc.ownConnections(new LazyConnectionDataSourceProxy(joins)))
                .isSameAs(plain);
        assertThat(StoreBean.SpringJdbc.ownConnections(plain)).isSameAs(plain);
    }

    /** Another client sees the lock, and gets it as soon as the application is closed: the release reached the store. */
    private static void keepsTheLocks(ApplicationContextRunner application, LockClient other) {
        application.run(context -> {
            assertThat(context).hasNotFailed();
            Hold hold = context.getBean(LockClient.class).lock("order:42").acquire();
            hold.detach();
            assertThat(other.lock("order:42").tryAcquire()).isEmpty();
            context.close();
            try (Hold next =
                    other.lock("order:42").tryAcquire(Duration.ofSeconds(10)).orElseThrow()) {
                assertThat(next.token()).isGreaterThan(hold.token());
            }
        });
    }
}
