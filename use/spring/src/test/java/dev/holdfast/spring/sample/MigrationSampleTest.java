package dev.holdfast.spring.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spring.LockAnnotationsAutoConfiguration;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

/** One application on Redisson and ShedLock, and the same on Holdfast: both run, and few lines differ. */
@Tag("thorough")
class MigrationSampleTest {
    private static final Path SAMPLES = Path.of("src/test/java/dev/holdfast/spring/sample");

    private static final AtomicInteger DATABASES = new AtomicInteger();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DataSourceAutoConfiguration.class, JdbcTemplateAutoConfiguration.class))
            .withPropertyValues("spring.datasource.url=jdbc:h2:mem:port" + DATABASES.incrementAndGet());

    @Test
    void theShopRunsOnRedissonAndShedLock() {
        try (RedisServer redis = OrSkip.orSkip(RedisServer::start)) {
            runs(application
                    .withUserConfiguration(dev.holdfast.spring.sample.before.Shop.class)
                    .withPropertyValues("shop.redis=" + redis.uri()));
        }
    }

    @Test
    void theShopRunsOnHoldfast() {
        try (RedisServer redis = OrSkip.orSkip(RedisServer::start)) {
            runs(application
                    .withConfiguration(AutoConfigurations.of(
                            HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
                    .withUserConfiguration(dev.holdfast.spring.sample.after.Shop.class)
                    .withPropertyValues("holdfast.store=" + redis.uri()));
        }
    }

    private static void runs(ApplicationContextRunner application) {
        application.run(context -> {
            JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
            jdbc.execute("CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT)");
            jdbc.execute("INSERT INTO account VALUES (1, 100), (2, 100)");
            jdbc.execute("CREATE TABLE report (accounts BIGINT)");
            jdbc.execute("CREATE TABLE shedlock (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP NOT NULL,"
                    + " locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL)");
            Account account = context.getBean(Account.class);
            account.pay(1, 30);
            assertThat(account.tryToRefund(1, 10)).isTrue();
            account.transfer(1, 2, 50);
            context.getBean(Report.class).nightly();
            context.getBean(Report.class).nightly();
            assertThat(jdbc.queryForList("SELECT balance FROM account ORDER BY id", Long.class))
                    .containsExactly(30L, 150L);
            assertThat(jdbc.queryForList("SELECT accounts FROM report", Long.class))
                    .containsExactly(2L);
        });
    }

    @Test
    void fewLinesDiffer() throws IOException {
        List<String> before = lines("before");
        List<String> after = lines("after");
        assertThat(changes(before, after))
                .as("lines of code that are changed, added or removed")
                .isLessThanOrEqualTo(30);
    }

    /** Without package, imports and what is only braces. */
    private static List<String> lines(String version) throws IOException {
        return Files.readAllLines(SAMPLES.resolve(version).resolve("Shop.java")).stream()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("package ") && !line.startsWith("import "))
                .filter(line -> !line.equals("}") && !line.startsWith("/**"))
                .toList();
    }

    /** The fewest lines that must be changed, added or removed. */
    private static int changes(List<String> before, List<String> after) {
        int[][] fewest = new int[before.size() + 1][after.size() + 1];
        for (int i = 0; i <= before.size(); i++) {
            for (int j = 0; j <= after.size(); j++) {
                if (i == 0 || j == 0) {
                    fewest[i][j] = i + j;
                } else {
                    int same = before.get(i - 1).equals(after.get(j - 1)) ? 0 : 1;
                    fewest[i][j] =
                            Math.min(fewest[i - 1][j - 1] + same, Math.min(fewest[i - 1][j], fewest[i][j - 1]) + 1);
                }
            }
        }
        return fewest[before.size()][after.size()];
    }
}
