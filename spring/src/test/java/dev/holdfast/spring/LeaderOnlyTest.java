package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.Term;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.event.EventListener;

/** Methods with {@link LeaderOnly}, and leadership as events. */
class LeaderOnlyTest {
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
            .withBean(Outbox.class);

    @Test
    void theMethodRunsWhereTheApplicationLeadsAndIsSkippedElsewhere() {
        ApplicationContextRunner on = application.withPropertyValues("holdfast.store=mem:outbox");
        on.run(first -> {
            Outbox leading = first.getBean(Outbox.class);
            assertThat(leading.next()).startsWith("elected outbox");
            assertThat(leading.send(null)).isPositive();
            on.run(second -> {
                Outbox following = second.getBean(Outbox.class);
                assertThat(following.send(null)).isNull();
                first.close();
                assertThat(leading.next()).startsWith("revoked outbox");
                assertThat(following.next()).startsWith("elected outbox");
                assertThat(following.send(null)).isPositive();
            });
        });
    }

    @Test
    void anElectionOfThePropertiesIsStoodFor() {
        application
                .withPropertyValues("holdfast.store=mem:", "holdfast.elections=reports")
                .run(context -> {
                    Outbox outbox = context.getBean(Outbox.class);
                    assertThat(new String[] {outbox.next(), outbox.next()})
                            .anyMatch(event -> event.startsWith("elected reports"))
                            .anyMatch(event -> event.startsWith("elected outbox"));
                });
    }

    @Test
    void aBeanThatIsMadeLaterIsStoodForFromItsFirstCallOn() {
        application
                .withPropertyValues("holdfast.store=mem:")
                .withBean(Late.class, Late::new, definition -> definition.setLazyInit(true))
                .run(context -> {
                    Late late = context.getBean(Late.class);
                    await().atMost(Duration.ofMinutes(1)).until(() -> late.run() != null);
                });
    }

    @Test
    void theElectionIsLeftWhenTheApplicationEnds() throws InterruptedException {
        application
                .withPropertyValues("holdfast.store=mem:leaving")
                .run(context -> assertThat(context.getBean(Outbox.class).next()).startsWith("elected outbox"));
        try (LockClient client = LockClient.connect("mem:leaving");
                Hold hold =
                        client.lock("outbox").tryAcquire(Duration.ofSeconds(10)).orElseThrow()) {
            assertThat(hold.isValid()).isTrue();
        }
    }

    @Test
    void aPrimitiveResultStopsTheStart() {
        application
                .withPropertyValues("holdfast.store=mem:")
                .withBean(Primitive.class)
                .run(context -> assertThat(context).getFailure().hasStackTraceContaining("Primitive.run may skip"));
    }

    static class Outbox {
        private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

        @LeaderOnly("${outbox.election:outbox}")
        public Long send(Term term) {
            return term.token();
        }

        @EventListener
        public void elected(LeaderElected event) {
            events.add("elected " + event.election() + " " + event.term().token());
        }

        @EventListener
        public void revoked(LeaderRevoked event) {
            events.add("revoked " + event.election() + " " + event.term().token());
        }

        public String next() throws InterruptedException {
            return events.poll(1, TimeUnit.MINUTES);
        }
    }

    static class Late {
        @LeaderOnly("late")
        public String run() {
            return "ran";
        }
    }

    static class Primitive {
        @LeaderOnly("outbox")
        public int run() {
            return 1;
        }
    }
}
