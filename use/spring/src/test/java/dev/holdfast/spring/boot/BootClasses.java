package dev.holdfast.spring.boot;

import java.util.Arrays;
import org.springframework.util.ClassUtils;

/** Spring Boot's own configurations, which version 4 has moved to other packages than version 3 had. */
final class BootClasses {
    static final Class<?> DATA_SOURCE = find(
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration");
    static final Class<?> REDIS = find(
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration");
    static final Class<?> FLYWAY = find(
            "org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration",
            "org.springframework.boot.autoconfigure.flyway.FlywayAutoConfiguration");
    static final Class<?> LIQUIBASE = find(
            "org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration",
            "org.springframework.boot.autoconfigure.liquibase.LiquibaseAutoConfiguration");

    private BootClasses() {}

    private static Class<?> find(String... names) {
        return Arrays.stream(names)
                .filter(name -> ClassUtils.isPresent(name, null))
                .findFirst()
                .map(name -> ClassUtils.resolveClassName(name, null))
                .orElseThrow();
    }
}
