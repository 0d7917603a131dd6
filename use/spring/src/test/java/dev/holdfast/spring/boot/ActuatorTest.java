package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.micrometer.LockMetrics;
import dev.holdfast.micrometer.NameTag;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testkit.TestLocks;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.actuate.autoconfigure.endpoint.PropertiesEndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.OperationFilter;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.invoke.convert.ConversionServiceParameterValueMapper;
import org.springframework.boot.actuate.endpoint.web.EndpointMediaTypes;
import org.springframework.boot.actuate.endpoint.web.WebEndpointHttpMethod;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpointDiscoverer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Timeout(60)
class ActuatorTest {
    @AutoClose
    private final TestLocks locks = TestLocks.standing();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    HoldfastAutoConfiguration.class,
                    HoldfastActuatorAutoConfiguration.class,
                    HoldfastMetricsAutoConfiguration.class))
            .withBean("lockClient", LockClient.class, locks::client)
            .withPropertyValues("management.endpoints.web.exposure.include=locks");

    @Configuration(proxyBeanMethods = false)
    static class Metrics {
        @Bean
        static MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }

        @Bean
        static NameTag names() {
            return NameTag.before(':');
        }
    }

    /** A caller of the endpoint. */
    private record Caller(@Nullable Principal who) implements SecurityContext {
        @Override
        public @Nullable Principal getPrincipal() {
            return who;
        }

        @Override
        public boolean isUserInRole(String role) {
            return false;
        }
    }

    @Test
    void theEndpointListsLocks() {
        application.run(context -> {
            LockClient client = context.getBean(LockClient.class);
            Hold hold = client.lock("order:42").acquire();
            Object shown = context.getBean(LocksEndpoint.class).list("order:*").get("lockClient");
            assertThat(shown)
                    .asInstanceOf(InstanceOfAssertFactories.list(LocksEndpoint.Shown.class))
                    .singleElement()
                    .satisfies(lock -> {
                        assertThat(lock.name()).isEqualTo("order:42");
                        assertThat(lock.token()).isEqualTo(Long.toString(hold.token()));
                        assertThat(lock.leaseLeftMillis()).isEqualTo(30_000);
                    });
            assertThat(context.getBean(LocksEndpoint.class).list("other").get("lockClient"))
                    .isEqualTo(List.of());
        });
    }

    @Test
    void theEndpointBreaksALockForOneWhoIsLoggedInAlone() {
        application.run(context -> {
            LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
            Hold hold = context.getBean(LockClient.class).lock("order:42").acquire();
            long token = hold.token();

            List<String> logged = new CopyOnWriteArrayList<>();
            Logger log = logOfTheEndpoint(logged);
            assertThat(endpoint.breakLock(new Caller(null), "lockClient", token, true, "order:42")
                            .getStatus())
                    .isEqualTo(403);
            locks.assertHeld("order:42");
            assertThat(logged)
                    .singleElement(InstanceOfAssertFactories.STRING)
                    .contains("an unknown caller", "'order:42'", "'lockClient'", "no caller is logged in");
            assertThat(log).isNotNull();

            Caller admin = new Caller(() -> "admin");
            assertThat(endpoint.breakLock(admin, "another", token, true, "order:42")
                            .getStatus())
                    .isEqualTo(404);
            assertThat(endpoint.breakLock(admin, "lockClient", token, true, "order:42")
                            .getStatus())
                    .isEqualTo(200);
            assertThat(locks.somebodyElse().take("order:42").isValid()).isTrue();
            assertThat(endpoint.breakLock(admin, "lockClient", token, true, "order:42")
                            .getStatus())
                    .as("another grant than the one shown")
                    .isEqualTo(404);
        });
    }

    @Test
    void aCallerCannotWriteALineOfTheLog() {
        application.run(context -> {
            List<String> logged = new CopyOnWriteArrayList<>();
            Logger log = logOfTheEndpoint(logged);
            LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
            assertThat(endpoint.breakLock(new Caller(null), "a\nb", 1, true, "order\r\nadmin broke 'order'")
                            .getStatus())
                    .isEqualTo(403);
            assertThat(logged)
                    .singleElement(InstanceOfAssertFactories.STRING)
                    .contains("'a?b'", "'order??admin broke 'order''")
                    .doesNotContain("\n", "\r");
            assertThat(log).isNotNull();
        });
    }

    @Test
    void aBreakWithoutAnAnswerIsLoggedAndSaidToBeOfUnknownOutcome() {
        application.run(context -> {
            LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
            Hold hold = context.getBean(LockClient.class).lock("order:42").acquire();
            List<String> logged = new CopyOnWriteArrayList<>();
            Logger log = logOfTheEndpoint(logged);
            Caller admin = new Caller(() -> "admin");
            locks.storeAway();
            assertThat(endpoint.breakLock(admin, "lockClient", hold.token(), true, "order:42")
                            .getStatus())
                    .isEqualTo(503);
            locks.storeBack();
            assertThat(logged)
                    .singleElement(InstanceOfAssertFactories.STRING)
                    .contains("admin", "'order:42'", "'lockClient'", "it is unknown whether it was broken");

            logged.clear();
            assertThatThrownBy(() -> endpoint.breakLock(admin, "lockClient", 0, true, "order:42"))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(logged)
                    .singleElement(InstanceOfAssertFactories.STRING)
                    .contains("admin", "'order:42'", "failed: a token is positive");
            assertThat(log).isNotNull();
        });
    }

    private static Logger logOfTheEndpoint(List<String> logged) {
        Logger log = Logger.getLogger("dev.holdfast.spring"); // kept by the caller: the log manager holds it weakly
        log.addHandler(new Handler() {
            @Override
            public void publish(LogRecord entry) {
                logged.add(entry.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        });
        return log;
    }

    @Test
    void theEndpointBreaksNothingUnlessThatIsAllowed() {
        application.run(context -> assertThat(methods(context)).containsExactly(WebEndpointHttpMethod.GET));
        application
                .withPropertyValues("management.endpoint.locks.access=UNRESTRICTED")
                .run(context -> assertThat(methods(context))
                        .containsExactlyInAnyOrder(WebEndpointHttpMethod.GET, WebEndpointHttpMethod.DELETE));
    }

    /** What Spring Boot lets through to the endpoint, as it finds it in the context. */
    private static List<WebEndpointHttpMethod> methods(AssertableApplicationContext context) {
        WebEndpointDiscoverer found = new WebEndpointDiscoverer(
                context,
                new ConversionServiceParameterValueMapper(),
                EndpointMediaTypes.DEFAULT,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(OperationFilter.byAccess(new PropertiesEndpointAccessResolver(context.getEnvironment()))));
        return found.getEndpoints().stream()
                .flatMap(endpoint -> endpoint.getOperations().stream())
                .map(operation -> operation.getRequestPredicate().getHttpMethod())
                .toList();
    }

    @Test
    void anEndpointThatIsNotExposedIsNotThere() {
        application
                .withPropertyValues("management.endpoints.web.exposure.include=health")
                .run(context -> assertThat(context).doesNotHaveBean(LocksEndpoint.class));
    }

    @Test
    void theEndpointShowsTheStoresThatAnswerAndSaysWhichDoNot() {
        try (RedisServer redis = OrSkip.orSkip(RedisServer::start)) {
            application
                    .withBean("oneClient", LockClient.class, () -> LockClient.connect(redis.uri()))
                    .withBean("otherClient", LockClient.class, () -> LockClient.connect(redis.uri()))
                    .run(context -> {
                        Hold hold = context.getBean("lockClient", LockClient.class)
                                .lock("order:42")
                                .acquire();
                        LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
                        redis.process().stop();
                        long since = System.nanoTime();
                        Map<String, Object> shown = endpoint.list(null);
                        assertThat(Duration.ofNanos(System.nanoTime() - since))
                                .as("side by side, and for a second each")
                                .isLessThan(Duration.ofSeconds(2));
                        assertThat(shown).containsOnlyKeys("lockClient", "oneClient", "otherClient");
                        assertThat(shown.get("lockClient"))
                                .asInstanceOf(InstanceOfAssertFactories.list(LocksEndpoint.Shown.class))
                                .hasSize(1);
                        assertThat(shown.get("oneClient"))
                                .asInstanceOf(InstanceOfAssertFactories.type(LocksEndpoint.NoAnswer.class))
                                .satisfies(none -> assertThat(none.failure()).contains(redis.uri()));
                        redis.process().cont();
                        await().untilAsserted(
                                        () -> assertThat(endpoint.list(null).get("otherClient"))
                                                .isInstanceOf(List.class));
                        hold.close();
                    });
        }
    }

    @Test
    void metersOfAnApplicationsOwnClientCountItsLosses() {
        application.withUserConfiguration(Metrics.class).run(context -> {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            context.getBean(LockClient.class).lock("order:42").acquire().detach();
            locks.lose("order:42");
            locks.events(); // waits for the listeners
            assertThat(registry.get("holdfast.losses")
                            .tag("lock", "order")
                            .counter()
                            .count())
                    .isEqualTo(1);
            assertThat(registry.get("holdfast.wait")
                            .tag("lock", "order")
                            .timer()
                            .count())
                    .isEqualTo(1);
        });
    }

    @Test
    void metersOfTheClientsAreInTheRegistry() {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(HoldfastAutoConfiguration.class, HoldfastMetricsAutoConfiguration.class))
                .withUserConfiguration(Metrics.class)
                .withPropertyValues("holdfast.store=mem:")
                .run(context -> {
                    MeterRegistry registry = context.getBean(MeterRegistry.class);
                    Hold hold =
                            context.getBean(LockClient.class).lock("order:42").acquire();
                    assertThat(registry.get("holdfast.held").gauge().value()).isEqualTo(1);
                    hold.close();
                    await().until(() ->
                            registry.find("holdfast.hold").tag("lock", "order").timer() != null);
                    assertThat(context).hasSingleBean(LockMetrics.class);
                });
    }

    @Test
    void withoutARegistryThereAreNoMeters() {
        application.run(context -> assertThat(context).doesNotHaveBean(LockMetrics.class));
    }
}
