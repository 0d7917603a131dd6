package dev.holdfast.spring.boot;

import dev.holdfast.LockClient;
import dev.holdfast.micrometer.LockMetrics;
import dev.holdfast.micrometer.NameTag;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Meters of all lock clients, where {@code holdfast-micrometer} and a registry are there. A bean of type {@link NameTag}
 * decides what the tag {@code lock} says.
 *
 * <p>The names of Spring Boot's own configurations are text: they differ between versions.
 */
@AutoConfiguration(
        after = HoldfastAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnClass({LockMetrics.class, MeterRegistry.class})
@ConditionalOnBean(MeterRegistry.class)
public final class HoldfastMetricsAutoConfiguration {
    /** For Spring. */
    public HoldfastMetricsAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    static LockMetrics lockMetrics(MeterRegistry registry, ObjectProvider<NameTag> names) {
        return LockMetrics.on(registry, names.getIfUnique(NameTag::none));
    }

    @Bean
    static SmartInitializingSingleton holdfastMetricsBinding(LockMetrics metrics, ListableBeanFactory beans) {
        return () -> beans.getBeansOfType(LockClient.class).values().forEach(metrics::bind);
    }
}
