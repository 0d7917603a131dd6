package dev.holdfast.spring.boot;

import dev.holdfast.LockClient;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The endpoint {@code locks} and the health of the stores, where Spring Boot's actuator is there (Spring Boot 4). */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
public final class HoldfastActuatorAutoConfiguration {
    /** For Spring. */
    public HoldfastActuatorAutoConfiguration() {}

    /** The endpoint. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    @ConditionalOnBean(LockClient.class)
    static class Endpoints {
        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnAvailableEndpoint
        static LocksEndpoint locksEndpoint(ListableBeanFactory beans) {
            return new LocksEndpoint(beans.getBeansOfType(LockClient.class));
        }
    }

    /** The health. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
    @ConditionalOnBean(LockClient.class)
    static class HealthOfStores {
        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnEnabledHealthIndicator("locks")
        static LocksHealthIndicator locksHealthIndicator(ListableBeanFactory beans) {
            return new LocksHealthIndicator(beans.getBeansOfType(LockClient.class));
        }
    }
}
