package dev.holdfast.spring.boot;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.spring.LockClients;
import java.util.HashMap;
import java.util.Map;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * The lock clients of an application. An application that defines a {@link LockClient} bean gets no other.
 *
 * <p>The names of Spring Boot's own configurations are text, because their modules need not be there, and because version
 * 3, which the last two are of, has other names.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration"
        })
@EnableConfigurationProperties(HoldfastProperties.class)
public final class HoldfastAutoConfiguration {
    /** For Spring. */
    public HoldfastAutoConfiguration() {}

    @Bean
    static LockClientLifecycle holdfastLockClientLifecycle(ConfigurableApplicationContext context) {
        return new LockClientLifecycle(context);
    }

    @Bean
    @ConditionalOnMissingBean
    static LockClients lockClients(HoldfastProperties properties, ListableBeanFactory beans) {
        Map<String, HoldOptions> options = new HashMap<>();
        properties
                .clients()
                .forEach((name, client) -> options.put(name, client.hold().toOptions()));
        return new LockClients(beans, properties.hold().toOptions(), options);
    }

    /** The clients of the properties. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(LockClient.class)
    @Import(LockClientRegistrar.class)
    static class Clients {
        @Bean(LockClientMaker.BEAN_NAME)
        static LockClientMaker holdfastLockClientMaker(HoldfastProperties properties, ListableBeanFactory beans) {
            return new LockClientMaker(properties, beans);
        }
    }
}
