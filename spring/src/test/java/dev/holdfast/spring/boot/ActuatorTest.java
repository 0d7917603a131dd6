package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.micrometer.LockMetrics;
import dev.holdfast.micrometer.NameTag;
import dev.holdfast.test.TestLocks;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Timeout(60)
class ActuatorTest {
    private final TestLocks locks = TestLocks.standing();
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    HoldfastAutoConfiguration.class,
                    HoldfastActuatorAutoConfiguration.class,
                    HoldfastMetricsAutoConfiguration.class))
            .withBean("lockClient", LockClient.class, locks::client)
            .withPropertyValues("management.endpoints.web.exposure.include=locks");

    @AfterEach
    void close() {
        locks.close();
    }

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
            List<LocksEndpoint.Shown> shown =
                    context.getBean(LocksEndpoint.class).list("order:*").get("lockClient");
            assertThat(shown).singleElement().satisfies(lock -> {
                assertThat(lock.name()).isEqualTo("order:42");
                assertThat(lock.token()).isEqualTo(Long.toString(hold.token()));
                assertThat(lock.leaseLeftMillis()).isEqualTo(30_000);
            });
            assertThat(context.getBean(LocksEndpoint.class).list("other").get("lockClient"))
                    .isEmpty();
        });
    }

    @Test
    void theEndpointBreaksALockForOneWhoIsLoggedInAlone() {
        application.run(context -> {
            LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
            Hold hold = context.getBean(LockClient.class).lock("order:42").acquire();
            long token = hold.token();

            assertThat(endpoint.breakLock(new Caller(null), "lockClient", "order:42", token, true)
                            .getStatus())
                    .isEqualTo(403);
            locks.assertHeld("order:42");

            Caller admin = new Caller(() -> "admin");
            assertThat(endpoint.breakLock(admin, "another", "order:42", token, true)
                            .getStatus())
                    .isEqualTo(404);
            assertThat(endpoint.breakLock(admin, "lockClient", "order:42", token, true)
                            .getStatus())
                    .isEqualTo(200);
            assertThat(locks.somebodyElse().take("order:42").isValid()).isTrue();
            assertThat(endpoint.breakLock(admin, "lockClient", "order:42", token, true)
                            .getStatus())
                    .as("another grant than the one shown")
                    .isEqualTo(404);
        });
    }

    @Test
    void anEndpointThatIsNotExposedIsNotThere() {
        application
                .withPropertyValues("management.endpoints.web.exposure.include=health")
                .run(context -> assertThat(context).doesNotHaveBean(LocksEndpoint.class));
    }

    @Test
    void healthIsUpDownAndDegraded() {
        application.run(context -> {
            LocksHealthIndicator health = context.getBean(LocksHealthIndicator.class);
            assertThat(health.health().getStatus()).isEqualTo(Status.UP);

            locks.storeAway();
            Health down = health.health();
            assertThat(down.getStatus()).isEqualTo(Status.DOWN);
            assertThat(down.getDetails()).containsEntry("lockClient", "mem:: DOWN");

            locks.storeBack();
            assertThat(health.health().getStatus()).as("it has failed just now").isEqualTo(LocksHealthIndicator.DEGRADED);
            locks.advance(Duration.ofMinutes(1));
            assertThat(health.health().getStatus()).isEqualTo(Status.UP);
        });
        application
                .withPropertyValues("management.health.locks.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(LocksHealthIndicator.class));
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
                    Hold hold = context.getBean(LockClient.class).lock("order:42").acquire();
                    assertThat(registry.get("holdfast.held").gauge().value()).isEqualTo(1);
                    hold.close();
                    await()
                            .until(() -> registry.find("holdfast.hold").tag("lock", "order").timer() != null);
                    assertThat(context).hasSingleBean(LockMetrics.class);
                });
    }

    @Test
    void withoutARegistryThereAreNoMeters() {
        application.run(context -> assertThat(context).doesNotHaveBean(LockMetrics.class));
    }
}
