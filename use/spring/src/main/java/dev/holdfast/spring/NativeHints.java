package dev.holdfast.spring;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** What a native image must keep for the starter: its annotations, and the types that it looks for by name. */
final class NativeHints implements RuntimeHintsRegistrar {
    /** Each is looked for when the application starts; whether it is there decides what the starter does. */
    static final List<String> LOOKED_FOR = List.of(
            "reactor.core.publisher.Flux",
            "kotlinx.coroutines.reactor.MonoKt",
            "kotlin.reflect.full.KClasses",
            "org.springframework.http.HttpEntity",
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            "org.springframework.jdbc.datasource.AbstractDataSource",
            "javax.sql.DataSource",
            "org.springframework.data.redis.connection.RedisConnectionFactory",
            "org.apache.curator.framework.CuratorFramework",
            "dev.holdfast.jdbc.JdbcStores",
            "dev.holdfast.redis.RedisStores",
            "dev.holdfast.zookeeper.ZooKeeperStores",
            "io.etcd.jetcd.Client",
            "dev.holdfast.etcd.EtcdStores",
            "net.spy.memcached.MemcachedClient",
            "dev.holdfast.memcached.MemcachedStores");

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        for (Class<?> annotation : List.of(HoldLock.class, Once.class, LeaderOnly.class)) {
            hints.reflection().registerType(annotation, MemberCategory.INVOKE_DECLARED_METHODS);
        }
        LOOKED_FOR.forEach(type -> hints.reflection().registerTypeIfPresent(loader, type, hint -> {}));
    }
}
