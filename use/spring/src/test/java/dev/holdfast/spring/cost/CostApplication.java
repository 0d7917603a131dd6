package dev.holdfast.spring.cost;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.time.Duration;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** An application that says how long it took to start and what it has in use then; for {@link StarterCost}. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class CostApplication {
    private Duration timeTaken = Duration.ZERO;

    public static void main(String[] args) {
        try (ConfigurableApplicationContext context = SpringApplication.run(CostApplication.class, args)) {
            MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
            memory.gc();
            memory.gc();
            long used = memory.getHeapMemoryUsage().getUsed()
                    + memory.getNonHeapMemoryUsage().getUsed();
            System.out.println(
                    "cost " + context.getBean(CostApplication.class).timeTaken.toNanos() + " " + used);
        }
    }

    /** An application that uses Redis itself is connected when it has started. */
    @Bean
    @ConditionalOnProperty("cost.redis")
    InitializingBean usesRedis(RedisConnectionFactory redis) {
        return () -> redis.getConnection().ping();
    }

    @EventListener
    void ready(ApplicationReadyEvent event) {
        timeTaken = event.getTimeTaken();
    }
}
