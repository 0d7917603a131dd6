package dev.holdfast.spring.boot;

import dev.holdfast.HoldOptions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties under {@code holdfast}. A property that is unknown stops the start.
 *
 * @param store URL of the store, such as redis://127.0.0.1:6379, jdbc:postgresql://127.0.0.1/shop, zk://127.0.0.1:2181 or
 *     sqlite:locks.db. Without it, the application's own DataSource, RedisConnectionFactory or CuratorFramework is used.
 * @param use Which of the application's own beans keeps the locks, if there are several and no URL is set.
 * @param password Password to log in with, if the URL contains none.
 * @param namespace Prefix of every lock name in the store, so that applications can share one.
 * @param label A word that people see beside the holds of this application.
 * @param outageLimit How long a wait without a time limit continues while the store does not answer. Default 1m.
 * @param session How long ZooKeeper, or a SQL server with mode=session, keeps the locks of a client that died.
 * @param connectLazily Whether the application starts although the store does not answer.
 * @param executor Name of the bean, an Executor, that completes asynchronous and reactive acquisitions and runs what follows
 *     them. Default threads of the lock client.
 * @param hold How locks are held.
 * @param clients More clients, each with a name of its own: holdfast.clients.NAME.store. The client is the bean
 *     NAMELockClient, and @HoldLock(client = "NAME") uses it.
 * @param elections Names of elections in which this application is a candidate, besides those of @LeaderOnly.
 */
@ConfigurationProperties(prefix = "holdfast", ignoreUnknownFields = false)
public record HoldfastProperties(
        @Nullable String store,
        @Nullable StoreBean use,
        @Nullable String password,
        @Nullable String namespace,
        @Nullable String label,
        @Nullable Duration outageLimit,
        @Nullable Duration session,
        @DefaultValue("false") boolean connectLazily,
        @Nullable String executor,
        @NestedConfigurationProperty @DefaultValue HoldSettings hold,
        @DefaultValue Map<String, ClientSettings> clients,
        @DefaultValue List<String> elections) {

    /** What is said of the client without a name. */
    ClientSettings unnamed() {
        return new ClientSettings(
                store, use, password, namespace, label, outageLimit, session, connectLazily, executor, hold);
    }

    /** Whether there is a client without a name; where all clients have names, nothing says what it would be. */
    boolean hasUnnamed() {
        return clients.isEmpty() || store != null || use != null;
    }

    /** The first property of the client without a name that is set; null if there is none. */
    @Nullable
    String settingOfTheUnnamed() {
        Map<String, @Nullable Object> settings = new LinkedHashMap<>();
        settings.put("password", password);
        settings.put("namespace", namespace);
        settings.put("label", label);
        settings.put("outage-limit", outageLimit);
        settings.put("session", session);
        settings.put("connect-lazily", connectLazily ? true : null);
        settings.put("executor", executor);
        settings.put("hold", hold.toOptions().equals(HoldOptions.defaults()) ? null : hold);
        return settings.entrySet().stream()
                .filter(setting -> setting.getValue() != null)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    /** Without what may be a secret. */
    @Override
    public String toString() {
        return "HoldfastProperties[clients=" + clients.keySet() + "]";
    }
}
