package dev.holdfast.spring.integration;

import dev.holdfast.LockClient;
import dev.holdfast.spring.LockClients;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * A lock registry on the application's lock client, where Spring Integration is there and has none. Before version 7 it has
 * locks of another type, and gets none.
 */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass({LockRegistry.class, DistributedLock.class})
@ConditionalOnSingleCandidate(LockClient.class)
public final class LockRegistryAutoConfiguration {
    /** For Spring. */
    public LockRegistryAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(LockRegistry.class)
    static HoldfastLockRegistry holdfastLockRegistry(LockClient client, LockClients clients) {
        return new HoldfastLockRegistry(client, "integration", clients.options(""));
    }
}
