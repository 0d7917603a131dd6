package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.jdbc.JdbcOptions;
import dev.holdfast.jdbc.JdbcSchema;
import dev.holdfast.jdbc.JdbcStores;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** An application whose database is empty, with a tool for migrations: these run first, then the lock clients start. */
class MigrationTest {
    @Started
    private static PostgresServer postgres;

    @TempDir
    Path folder;

    @BeforeEach
    void emptyTheDatabase() {
        JdbcTemplate database = new JdbcTemplate(new DriverManagerDataSource(postgres.jdbcUrl()));
        database.execute("DROP SCHEMA public CASCADE");
        database.execute("CREATE SCHEMA public");
    }

    @ParameterizedTest
    @EnumSource
    void aClientOnTheDataSourceStartsAfterTheMigrations(Tool tool) {
        with(tool, "CREATE TABLE orders (id INT)").run(locksAndFinds("orders"));
    }

    @ParameterizedTest
    @Tag("thorough")
    @EnumSource
    void aClientOnTheUrlOfTheDatabaseStartsAfterTheMigrations(Tool tool) {
        with(tool, "CREATE TABLE orders (id INT)")
                .withPropertyValues("holdfast.store=" + postgres.jdbcUrl())
                .run(locksAndFinds("orders"));
    }

    @ParameterizedTest
    @EnumSource
    void aMigrationMakesTheTableOfAClientThatMayNot(Tool tool) {
        with(tool, JdbcSchema.script("postgresql"))
                .withPropertyValues("holdfast.store=" + withoutTables())
                .run(locksAndFinds("holdfast_lock"));
    }

    @ParameterizedTest
    @Tag("thorough")
    @EnumSource
    void aMigrationMakesTheTableOfANamedClientThatMayNot(Tool tool) {
        with(tool, JdbcSchema.script("postgresql"))
                .withPropertyValues("holdfast.clients.orders.store=" + withoutTables())
                .run(locksAndFinds("holdfast_lock"));
    }

    @ParameterizedTest
    @Tag("thorough")
    @EnumSource
    void aMigrationMakesTheTableOfAStoreOfTheApplicationsOwn(Tool tool) {
        with(tool, JdbcSchema.script("postgresql"))
                .withBean(StoreFactory.class, () -> JdbcStores.on(dataSource(), options()))
                .run(locksAndFinds("holdfast_lock"));
    }

    @ParameterizedTest
    @Tag("thorough")
    @EnumSource
    void aMigrationMakesTheTableOfAClientOfTheApplicationsOwn(Tool tool) {
        with(tool, JdbcSchema.script("postgresql"))
                .withBean("a", LockClient.class, () -> LockClient.connect(withoutTables()))
                .run(locksAndFinds("holdfast_lock"));
    }

    @Test
    @Tag("thorough")
    void aDatabaseThatHasTheTableOfLocksAlreadyGetsAllMigrationsAfterABaselineOfZero() {
        LockClient.connect(postgres.jdbcUrl()).close();
        with(Tool.FLYWAY, "CREATE TABLE orders (id INT)")
                .withPropertyValues("spring.flyway.baseline-on-migrate=true", "spring.flyway.baseline-version=0")
                .run(locksAndFinds("orders"));
    }

    /** Such a client may itself guard the migrations: it would wait for them for ever. */
    @Test
    void aClientWhoseLocksAreElsewhereDoesNotWaitForTheMigrations() {
        with(Tool.FLYWAY, "CREATE TABLE orders (id INT)")
                .withPropertyValues("holdfast.store=mem:")
                .run(context -> assertThat(context.getBeanFactory()
                                .getBeanDefinition("lockClient")
                                .getDependsOn())
                        .isNull());
    }

    private static ContextConsumer<AssertableApplicationContext> locksAndFinds(String table) {
        return context -> {
            assertThat(context).hasNotFailed();
            try (Hold hold = context.getBean(LockClient.class)
                    .lock("order:42")
                    .tryAcquire()
                    .orElseThrow()) {
                assertThat(hold.isValid()).isTrue();
            }
            assertThat(new JdbcTemplate(dataSource())
                            .queryForList("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", String.class))
                    .contains(table, "holdfast_lock");
        };
    }

    private static DataSource dataSource() {
        return new DriverManagerDataSource(postgres.jdbcUrl());
    }

    private static JdbcOptions options() {
        return JdbcOptions.defaults().createTable(false);
    }

    private static String withoutTables() {
        return postgres.jdbcUrl() + (postgres.jdbcUrl().contains("?") ? "&" : "?") + "holdfast.createTable=false";
    }

    private ApplicationContextRunner with(Tool tool, String migration) {
        List<String> properties = tool.migrate(folder, migration);
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        HoldfastAutoConfiguration.class, BootClasses.DATA_SOURCE, tool.configuration))
                .withPropertyValues("spring.datasource.url=" + postgres.jdbcUrl())
                .withPropertyValues(properties.toArray(String[]::new));
    }

    private enum Tool {
        FLYWAY(BootClasses.FLYWAY) {
            @Override
            List<String> migrate(Path folder, String sql) {
                write(folder.resolve("V1__first.sql"), sql);
                return List.of("spring.flyway.locations=filesystem:" + folder);
            }
        },
        LIQUIBASE(BootClasses.LIQUIBASE) {
            @Override
            List<String> migrate(Path folder, String sql) {
                write(folder.resolve("changes.sql"), "--liquibase formatted sql\n--changeset shop:1\n" + sql);
                return List.of("spring.liquibase.change-log="
                        + folder.resolve("changes.sql").toUri());
            }
        };

        private final Class<?> configuration;

        Tool(Class<?> configuration) {
            this.configuration = configuration;
        }

        /** Writes the only migration of an application; the properties by which it finds that. */
        abstract List<String> migrate(Path folder, String sql);

        static void write(Path file, String text) {
            try {
                Files.writeString(file, text);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
