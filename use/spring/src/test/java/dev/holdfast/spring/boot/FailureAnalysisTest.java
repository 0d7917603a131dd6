package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.jdbc.JdbcStores;
import dev.holdfast.spring.HoldLock;
import dev.holdfast.spring.LockAnnotationsAutoConfiguration;
import dev.holdfast.spring.Once;
import dev.holdfast.testbed.Ports;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** A client that cannot be made stops the start with a text that says what to set. */
@ExtendWith(OutputCaptureExtension.class)
class FailureAnalysisTest {
    private final ApplicationContextRunner application =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class));

    @Test
    void theTextStandsInPlaceOfAStackTrace(CapturedOutput output) {
        Throwable failure =
                catchThrowable(() -> SpringApplication.run(Bare.class, "--holdfast.store=redsi://127.0.0.1"));
        assertThat(failure).isNotNull();
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("no store is known for 'redsi:'")
                .contains("Correct holdfast.*");
    }

    @Test
    void noStoreAtAllSaysWhichThereAre() {
        FailureAnalysis analysis = analyse(application);
        assertThat(analysis.getDescription()).contains("No store is set for locks");
        assertThat(analysis.getAction()).contains("Set holdfast.store", "holdfast-redis", "holdfast-sqlite");
    }

    @Test
    void aStoreThatDoesNotAnswerIsNamed() {
        int port = Ports.free();
        FailureAnalysis analysis = analyse(
                application.withPropertyValues("holdfast.clients.orders.store=redis://:secret@127.0.0.1:" + port));
        assertThat(analysis.getDescription()).contains("127.0.0.1:" + port).doesNotContain("secret");
        assertThat(analysis.getAction()).contains("Start the store, or correct holdfast.clients.orders.store");
    }

    /** Spring prints the causes too. */
    @ParameterizedTest
    @ValueSource(
            strings = {"jdbc:postgresql://me:s3cret@127.0.0.1:1/shop", "jdbc:h2:mem:analysed;USER=me;PASSWORD=a;s3cret"
            })
    void noCauseShowsTheSecretOfAUrl(String url) {
        application.withPropertyValues("holdfast.store=" + url).run(context -> {
            StringWriter all = new StringWriter();
            context.getStartupFailure().printStackTrace(new PrintWriter(all));
            assertThat(all.toString()).contains("ClientNotMadeException").doesNotContainIgnoringCase("s3cret");
        });
    }

    @Test
    void aBeanWithoutItsModuleSaysWhatToAdd() {
        FailureAnalysis analysis = analyse(application
                .withConfiguration(AutoConfigurations.of(BootClasses.DATA_SOURCE))
                .withClassLoader(new FilteredClassLoader(JdbcStores.class)));
        assertThat(analysis.getDescription()).contains("DataSource").contains("not on the class path");
        assertThat(analysis.getAction()).contains("Add dev.holdfast:holdfast-jdbc");
    }

    @Test
    void twoBeansThatCouldKeepLocksSayHowToChoose() {
        FailureAnalysis analysis = analyse(
                application.withConfiguration(AutoConfigurations.of(BootClasses.DATA_SOURCE, BootClasses.REDIS)));
        assertThat(analysis.getDescription()).contains("DataSource, RedisConnectionFactory");
        assertThat(analysis.getAction()).contains("Set holdfast.use to data-source or redis");
    }

    @Test
    void twoDataSourcesSayHowToChoose() {
        FailureAnalysis analysis = analyse(application.withUserConfiguration(TwoDataSources.class));
        assertThat(analysis.getDescription()).contains("several beans of type DataSource");
        assertThat(analysis.getAction()).contains("@Primary");
    }

    @Test
    void aBeanThatShouldBeUsedAndIsNotThereIsNamed() {
        FailureAnalysis analysis = analyse(application.withPropertyValues("holdfast.use=curator"));
        assertThat(analysis.getDescription()).contains("CuratorFramework, and it has none");
    }

    @Test
    void jedisIsRefusedWithWhatToDo() {
        FailureAnalysis analysis = analyse(application
                .withConfiguration(AutoConfigurations.of(BootClasses.REDIS))
                .withPropertyValues("spring.data.redis.client-type=jedis"));
        assertThat(analysis.getDescription()).contains("JedisConnectionFactory").contains("Lettuce");
        assertThat(analysis.getAction()).contains("spring.data.redis.client-type=lettuce", "holdfast.store=redis:");
    }

    @Test
    void anAnnotationThatIsUsedWronglyIsToldTheSameWay(CapturedOutput output) {
        Throwable failure = catchThrowable(() ->
                SpringApplication.run(WrongAnnotation.class, "--holdfast.store=mem:", "--spring.main.banner-mode=off"));
        assertThat(failure).isNotNull();
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("@Once on FailureAnalysisTest.WrongAnnotation.run has no period; set one of every")
                .doesNotContain("\tat ");
    }

    @Test
    void twoClientsAndNoQualifierAreToldTheSameWay(CapturedOutput output) {
        Throwable failure = catchThrowable(() -> SpringApplication.run(
                NoQualifier.class, "--holdfast.clients.a.store=mem:a", "--holdfast.clients.b.store=mem:b"));
        assertThat(failure).isNotNull();
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("@HoldLock on FailureAnalysisTest.NoQualifier.run: there is not exactly one lock client")
                .doesNotContain("\tat ");
    }

    @Test
    void locksAreNotKeptInWhicheverDatabaseARoutingDataSourceChooses() {
        DataSource routing = routing();
        for (DataSource each : List.of(
                routing,
                new DelegatingDataSource(routing),
                new LazyConnectionDataSourceProxy(routing),
                new TransactionAwareDataSourceProxy(new LazyConnectionDataSourceProxy(routing)))) {
            FailureAnalysis analysis = analyse(application.withBean(DataSource.class, () -> each));
            assertThat(analysis.getDescription()).contains("routes").contains("DataSource");
            assertThat(analysis.getAction()).contains("holdfast.store");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "holdfast.pasword, There is no property holdfast.pasword",
        "holdfast.clients.orders.pasword, There is no property holdfast.clients.orders.pasword",
        "holdfast.password.first, There is no property holdfast.password.first",
        "holdfast.use, cannot be read as a StoreBean",
        "holdfast.hold.lease, cannot be read as a Duration",
    })
    void aPropertyThatCannotBeUsedIsNamedWithoutItsValue(String property, String reason, CapturedOutput output) {
        Throwable failure = catchThrowable(
                () -> SpringApplication.run(Bare.class, "--holdfast.store=mem:", "--" + property + "=s3cret"));
        assertThat(failure).isNotNull();
        assertThat(output)
                .contains("APPLICATION FAILED TO START", property, reason, "commandLineArgs")
                .doesNotContain("s3cret");
    }

    @Test
    void aSettingThatAHoldRefusesIsNamedWithTheReason(CapturedOutput output) {
        Throwable failure = catchThrowable(
                () -> SpringApplication.run(Bare.class, "--holdfast.store=mem:", "--holdfast.hold.lease=5ms"));
        assertThat(failure).isNotNull();
        assertThat(output).contains("APPLICATION FAILED TO START", "holdfast.hold", "the lease must be");
    }

    @Test
    void propertiesOfOthersAreLeftToSpring(CapturedOutput output) {
        Throwable failure = catchThrowable(() ->
                SpringApplication.run(Bare.class, "--holdfast.store=mem:", "--spring.main.banner-mode=sometimes"));
        assertThat(failure).isNotNull();
        assertThat(output).contains("sometimes");
    }

    private static DataSource routing() {
        AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return "a";
            }
        };
        routing.setTargetDataSources(Map.of("a", new DriverManagerDataSource("jdbc:h2:mem:a")));
        return routing;
    }

    private static FailureAnalysis analyse(ApplicationContextRunner application) {
        FailureAnalysis[] analysis = new FailureAnalysis[1];
        application.run(context -> {
            assertThat(context).hasFailed();
            analysis[0] = new ClientNotMadeAnalyzer().analyze(context.getStartupFailure());
        });
        assertThat(analysis[0]).isNotNull();
        return analysis[0];
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
    static class Bare {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class})
    static class WrongAnnotation {
        @Once
        public void run() {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class})
    static class NoQualifier {
        @HoldLock("a")
        public void run() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoDataSources {
        @Bean
        DataSource first() {
            return new DriverManagerDataSource("jdbc:h2:mem:first");
        }

        @Bean
        DataSource second() {
            return new DriverManagerDataSource("jdbc:h2:mem:second");
        }
    }
}
