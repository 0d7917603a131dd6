package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testkit.TestLocks;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The health of the stores, as Spring Boot's actuator shows it. Apart from the endpoint, since Spring Boot 3 has it elsewhere. */
class HealthTest {
    @AutoClose
    private final TestLocks locks = TestLocks.standing();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, HoldfastActuatorAutoConfiguration.class))
            .withBean("lockClient", LockClient.class, locks::client);

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
            assertThat(health.health().getStatus())
                    .as("it has failed just now")
                    .isEqualTo(LocksHealthIndicator.DEGRADED);
            locks.advance(Duration.ofMinutes(1));
            assertThat(health.health().getStatus()).isEqualTo(Status.UP);
        });
        application
                .withPropertyValues("management.health.locks.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(LocksHealthIndicator.class));
    }

    @Test
    void aLeaseThatEndsAsRequestedDoesNotDegrade() {
        application.run(context -> {
            LocksHealthIndicator health = context.getBean(LocksHealthIndicator.class);
            assertThat(health.health().getStatus()).isEqualTo(Status.UP);
            Hold brief = locks.client()
                    .lock("brief", HoldOptions.defaults().autoRenew(false))
                    .acquire();
            locks.advance(Duration.ofMinutes(1));
            assertThat(brief.isValid()).isFalse();
            assertThat(health.health().getStatus()).isEqualTo(Status.UP);

            Hold lost = locks.client().lock("lost").acquire();
            locks.lose(lost);
            assertThat(health.health().getStatus()).isEqualTo(LocksHealthIndicator.DEGRADED);
        });
    }

    @Test
    void aStoreThatHangsIsDownWithinASecondAndTheOthersAreLookedAt() {
        try (RedisServer redis = OrSkip.orSkip(RedisServer::start)) {
            application
                    .withBean("oneClient", LockClient.class, () -> LockClient.connect(redis.uri()))
                    .withBean("otherClient", LockClient.class, () -> LockClient.connect(redis.uri()))
                    .run(context -> {
                        LocksHealthIndicator health = context.getBean(LocksHealthIndicator.class);
                        assertThat(health.health().getStatus()).isEqualTo(Status.UP);
                        redis.process().stop();
                        long since = System.nanoTime();
                        Health down = health.health();
                        assertThat(Duration.ofNanos(System.nanoTime() - since))
                                .as("side by side, and for a second each")
                                .isLessThan(Duration.ofSeconds(2));
                        assertThat(down.getStatus()).isEqualTo(Status.DOWN);
                        assertThat(down.getDetails())
                                .containsEntry("lockClient", "mem:: UP")
                                .containsEntry("oneClient", redis.uri() + ": DOWN")
                                .containsEntry("otherClient", redis.uri() + ": DOWN");
                        redis.process().cont();
                        await().until(() -> !health.health().getStatus().equals(Status.DOWN));
                    });
        }
    }
}
