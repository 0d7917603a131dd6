package dev.holdfast.spring.boot;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of one client.
 *
 * @param store URL of the store.
 * @param use Which of the application's own beans keeps the locks, if no URL is set.
 * @param password Password to log in with, if the URL contains none.
 * @param namespace Prefix of every lock name in the store.
 * @param label A word that people see beside the holds of this client.
 * @param outageLimit How long a wait without a time limit continues while the store does not answer. Default 1m.
 * @param session How long a store with sessions, such as ZooKeeper, keeps the locks of a client that died.
 * @param connectLazily Whether the application starts although the store does not answer.
 * @param executor Name of the bean, an Executor, that completes asynchronous and reactive acquisitions.
 * @param hold How locks are held.
 */
public record ClientSettings(
        @Nullable String store,
        @Nullable StoreBean use,
        @Nullable String password,
        @Nullable String namespace,
        @Nullable String label,
        @Nullable Duration outageLimit,
        @Nullable Duration session,
        @DefaultValue("false") boolean connectLazily,
        @Nullable String executor,
        @NestedConfigurationProperty @DefaultValue HoldSettings hold) {

    /** Whether the locks may be in a database of the application. */
    boolean mayUseDatabase() {
        return store == null ? use == null || use == StoreBean.DATA_SOURCE : store.startsWith("jdbc:");
    }

    /** Without what may be a secret. */
    @Override
    public String toString() {
        return "ClientSettings[namespace=" + namespace + ", label=" + label + ", hold=" + hold + "]";
    }
}
