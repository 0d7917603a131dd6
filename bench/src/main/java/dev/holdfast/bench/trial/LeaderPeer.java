package dev.holdfast.bench.trial;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Candidacy;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.bench.peer.StoreKind;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** The elections that are compared, each with a lease, or a session, of two seconds. */
enum LeaderPeer {
    HOLDFAST_REDIS("Holdfast on Redis", StoreKind.REDIS),
    SPRING_REDIS("Spring LockRegistryLeaderInitiator, RedisLockRegistry", StoreKind.REDIS),
    HOLDFAST_POSTGRESQL("Holdfast on PostgreSQL", StoreKind.POSTGRESQL),
    SPRING_POSTGRESQL("Spring LockRegistryLeaderInitiator, JdbcLockRegistry", StoreKind.POSTGRESQL),
    HOLDFAST_ZOOKEEPER("Holdfast on ZooKeeper", StoreKind.ZOOKEEPER),
    CURATOR("Curator LeaderLatch", StoreKind.ZOOKEEPER);

    static final Duration LEASE = Duration.ofSeconds(2);
    /** The tick of the ZooKeeper server. */
    static final Duration TICK = Duration.ofMillis(500);

    final String title;
    final StoreKind store;

    LeaderPeer(String title, StoreKind store) {
        this.title = title;
        this.store = store;
    }

    boolean isHoldfast() {
        return name().startsWith("HOLDFAST");
    }

    /** How long a fail-over may take. */
    Duration bound() {
        return store == StoreKind.ZOOKEEPER ? LEASE.plus(TICK).plusSeconds(1) : LEASE.plusSeconds(1);
    }

    /** A candidate of one election. */
    interface Candidate {
        boolean isLeader();

        /** Ends its term, and stands again. */
        void resign();
    }

    /** Stands for an election in this process. */
    Candidate stand(String url, String election) {
        return switch (this) {
            case HOLDFAST_REDIS, HOLDFAST_POSTGRESQL ->
                holdfast(
                        LockClient.connect(url),
                        election,
                        HoldOptions.defaults().lease(LEASE));
            case HOLDFAST_ZOOKEEPER ->
                holdfast(
                        LockClient.connect(url + "?session=" + LEASE.toMillis() + "ms&tick=" + TICK.toMillis() + "ms"),
                        election,
                        HoldOptions.defaults());
            case SPRING_REDIS -> spring(redisRegistry(url), election);
            case SPRING_POSTGRESQL -> spring(jdbcRegistry(url), election);
            case CURATOR -> curator(url, election);
        };
    }

    private static Candidate holdfast(LockClient client, String election, HoldOptions options) {
        Candidacy candidacy = client.election(election, options).stand();
        return new Candidate() {
            @Override
            public boolean isLeader() {
                return candidacy.isLeader();
            }

            @Override
            public void resign() {
                candidacy.resign();
            }
        };
    }

    private static Candidate curator(String url, String election) {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(url.substring("zk://".length()))
                .sessionTimeoutMs((int) LEASE.toMillis())
                .retryPolicy(new ExponentialBackoffRetry(100, 3))
                .build();
        client.start();
        return new Latch(client, "/curator/" + election);
    }

    /** A latch is closed to resign; another one stands then. */
    private static final class Latch implements Candidate {
        private final CuratorFramework client;
        private final String path;
        private volatile LeaderLatch latch;

        Latch(CuratorFramework client, String path) {
            this.client = client;
            this.path = path;
            this.latch = started();
        }

        @Override
        public boolean isLeader() {
            return latch.hasLeadership();
        }

        @Override
        public void resign() {
            try {
                latch.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            latch = started();
        }

        private LeaderLatch started() {
            LeaderLatch made = new LeaderLatch(client, path);
            try {
                made.start();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            return made;
        }
    }

    private static Candidate spring(LockRegistry<?> registry, String election) {
        LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(
                registry,
                new DefaultCandidate(Long.toString(ProcessHandle.current().pid()), election));
        initiator.start();
        return new Candidate() {
            @Override
            public boolean isLeader() {
                return initiator.getContext().isLeader();
            }

            @Override
            public void resign() {
                initiator.getContext().yield();
            }
        };
    }

    private static LockRegistry<?> redisRegistry(String url) {
        RedisURI address = RedisURI.create(url);
        LettuceConnectionFactory connections =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(address.getHost(), address.getPort()));
        connections.afterPropertiesSet();
        connections.start();
        return new RedisLockRegistry(connections, "leaders", LEASE);
    }

    private static LockRegistry<?> jdbcRegistry(String url) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        pool.setMaximumPoolSize(2);
        DefaultLockRepository repository = new DefaultLockRepository(pool);
        repository.setTransactionManager(new JdbcTransactionManager(pool));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        return new JdbcLockRegistry(repository, LEASE);
    }
}
