package dev.holdfast.spring.boot;

import dev.holdfast.etcd.EtcdStores;
import dev.holdfast.jdbc.JdbcStores;
import dev.holdfast.memcached.MemcachedStores;
import dev.holdfast.redis.RedisStores;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.zookeeper.ZooKeeperStores;
import io.etcd.jetcd.Client;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import java.sql.SQLException;
import javax.sql.DataSource;
import net.spy.memcached.MemcachedClient;
import org.apache.curator.framework.CuratorFramework;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

/** A kind of bean of the application that can keep locks. */
public enum StoreBean {
    /** The application's {@code DataSource}: PostgreSQL, MariaDB, MySQL or H2. */
    DATA_SOURCE("javax.sql.DataSource", "dev.holdfast.jdbc.JdbcStores", "holdfast-jdbc") {
        @Override
        StoreFactory factory(ListableBeanFactory beans) {
            return Jdbc.factory(only(beans.getBeanProvider(DataSource.class)));
        }
    },
    /** The application's {@code RedisConnectionFactory}, on Lettuce: one server or a cluster. */
    REDIS(
            "org.springframework.data.redis.connection.RedisConnectionFactory",
            "dev.holdfast.redis.RedisStores",
            "holdfast-redis") {
        @Override
        StoreFactory factory(ListableBeanFactory beans) {
            return Redis.factory(this, beans);
        }
    },
    /** The application's {@code CuratorFramework}. */
    CURATOR(
            "org.apache.curator.framework.CuratorFramework",
            "dev.holdfast.zookeeper.ZooKeeperStores",
            "holdfast-zookeeper") {
        @Override
        StoreFactory factory(ListableBeanFactory beans) {
            return Curator.factory(this, beans);
        }
    },
    /** The application's jetcd {@code Client}. */
    ETCD("io.etcd.jetcd.Client", "dev.holdfast.etcd.EtcdStores", "holdfast-etcd") {
        @Override
        StoreFactory factory(ListableBeanFactory beans) {
            return Etcd.factory(this, beans);
        }
    },
    /** The application's {@code MemcachedClient} of spymemcached, with one server. */
    MEMCACHED("net.spy.memcached.MemcachedClient", "dev.holdfast.memcached.MemcachedStores", "holdfast-memcached") {
        @Override
        StoreFactory factory(ListableBeanFactory beans) {
            return Memcached.factory(this, beans);
        }
    };

    private final String beanType;
    private final String storeType;
    private final String artifact;

    StoreBean(String beanType, String storeType, String artifact) {
        this.beanType = beanType;
        this.storeType = storeType;
        this.artifact = artifact;
    }

    /** The store on the application's bean. */
    abstract StoreFactory factory(ListableBeanFactory beans);

    /** Whether the application has such a bean. */
    boolean isIn(ListableBeanFactory beans) {
        return ClassUtils.isPresent(beanType, null)
                && beans.getBeanNamesForType(ClassUtils.resolveClassName(beanType, null), true, false).length > 0;
    }

    /** Whether the module that keeps locks in it is on the class path. */
    boolean hasModule() {
        return ClassUtils.isPresent(storeType, null);
    }

    /** The bean as messages call it. */
    String title() {
        return ClassUtils.getShortName(beanType);
    }

    String artifact() {
        return "dev.holdfast:" + artifact;
    }

    /** The value of {@code holdfast.use} for it. */
    String property() {
        return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    }

    /** The only bean, or the primary one. */
    <T> T only(ObjectProvider<T> beans) {
        T bean = beans.getIfUnique();
        if (bean == null) {
            throw new ClientNotMadeException(
                    "There are several beans of type " + title() + ", and none of them is primary.",
                    "Mark the one that should keep the locks with @Primary, or set holdfast.store to a URL.");
        }
        return bean;
    }

    // Classes of their own: what they name need not be on the class path of an application that does not use them.

    private static final class Jdbc {
        static StoreFactory factory(DataSource dataSource) {
            boolean spring = ClassUtils.isPresent("org.springframework.jdbc.datasource.AbstractDataSource", null);
            return JdbcStores.on(spring ? SpringJdbc.ownConnections(dataSource) : dataSource);
        }
    }

    static final class SpringJdbc {
        private SpringJdbc() {}

        /** Connections that are in no transaction of the caller, always to one database. */
        static DataSource ownConnections(DataSource dataSource) {
            if (routes(dataSource)) {
                throw new ClientNotMadeException(
                        "The application's DataSource routes each connection to one of several databases, and all locks"
                                + " need one place.",
                        "Set holdfast.store to the URL of the database that keeps the locks.");
            }
            DataSource target = dataSource instanceof DelegatingDataSource proxy
                            && (proxy instanceof TransactionAwareDataSourceProxy
                                    || proxy instanceof LazyConnectionDataSourceProxy)
                    ? proxy.getTargetDataSource()
                    : null;
            return target == null ? dataSource : ownConnections(target);
        }

        /** Whether it does, or what it wraps. */
        private static boolean routes(DataSource dataSource) {
            try {
                return dataSource.isWrapperFor(AbstractRoutingDataSource.class);
            } catch (SQLException | RuntimeException e) {
                return false; // it does not say what it wraps
            }
        }
    }

    private static final class Redis {
        static StoreFactory factory(StoreBean kind, ListableBeanFactory beans) {
            RedisConnectionFactory connections = kind.only(beans.getBeanProvider(RedisConnectionFactory.class));
            if (!(connections instanceof LettuceConnectionFactory lettuce)) {
                throw new ClientNotMadeException(
                        "The application's RedisConnectionFactory is a "
                                + ClassUtils.getShortName(connections.getClass())
                                + ", and locks need Lettuce: a waiter is notified over a connection that Lettuce keeps open.",
                        "Set spring.data.redis.client-type=lettuce, or set holdfast.store=redis://HOST:PORT, which opens"
                                + " connections beside those of the application.");
            }
            AbstractRedisClient client = lettuce.getRequiredNativeClient();
            return client instanceof RedisClusterClient cluster
                    ? RedisStores.on(cluster)
                    : RedisStores.on((RedisClient) client);
        }
    }

    private static final class Curator {
        static StoreFactory factory(StoreBean kind, ListableBeanFactory beans) {
            return ZooKeeperStores.on(kind.only(beans.getBeanProvider(CuratorFramework.class)));
        }
    }

    private static final class Etcd {
        static StoreFactory factory(StoreBean kind, ListableBeanFactory beans) {
            return EtcdStores.on(kind.only(beans.getBeanProvider(Client.class)));
        }
    }

    private static final class Memcached {
        static StoreFactory factory(StoreBean kind, ListableBeanFactory beans) {
            return MemcachedStores.on(kind.only(beans.getBeanProvider(MemcachedClient.class)));
        }
    }
}
