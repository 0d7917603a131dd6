package dev.holdfast.spring.boot;

import dev.holdfast.LockClient;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitializationDetector;

/**
 * Lock clients whose locks may be in a database start when Flyway, Liquibase or scripts have prepared it: the clients of the
 * starter, unless their store is another one, and those of the application's own, of which nothing is known.
 */
final class DatabaseClientsDetector implements DependsOnDatabaseInitializationDetector {
    @Override
    public Set<String> detect(ConfigurableListableBeanFactory beans) {
        if (!StoreBean.DATA_SOURCE.hasModule()) {
            return Set.of();
        }
        return Arrays.stream(beans.getBeanNamesForType(LockClient.class, true, false))
                .filter(beans::containsBeanDefinition)
                .filter(name -> !beans.getBeanDefinition(name).hasAttribute(LockClientRegistrar.LOCKS_ELSEWHERE))
                .collect(Collectors.toSet());
    }
}
