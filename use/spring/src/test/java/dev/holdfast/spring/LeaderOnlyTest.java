package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.Term;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
    void anElectionIsStoodForOnceAlsoWhereItsClientIsNamedDifferently() {
        application
                .withPropertyValues("holdfast.store=mem:")
                .withBean(Named.class)
                .run(context -> {
                    assertThat(context.getBean(Outbox.class).next()).startsWith("elected outbox");
                    assertThat(context.getBean(Outbox.class).send(null)).isPositive();
                    assertThat(context.getBean(Named.class).run()).isEqualTo("ran");
                });
    }

    @Test
    void electionsEndTogetherSoThatOneSlowListenerDoesNotDelayTheOthers() {
        CyclicBarrier together = new CyclicBarrier(2);
        Queue<Object> met = new ConcurrentLinkedQueue<>();
        application
                .withPropertyValues("holdfast.store=mem:", "holdfast.elections=reports")
                .withBean(Meeting.class, () -> new Meeting(together, met))
                .run(context -> {
                    context.getBean(Outbox.class).next();
                    context.getBean(Outbox.class).next();
                });
        assertThat(met).hasSize(2).allMatch(Integer.class::isInstance);
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

    static class Named {
        @LeaderOnly(value = "outbox", client = "lockClient")
        public String run() {
            return "ran";
        }
    }

    /** A listener that returns only when that of the other election has begun. */
    static class Meeting {
        private final CyclicBarrier together;
        private final Queue<Object> met;

        Meeting(CyclicBarrier together, Queue<Object> met) {
            this.together = together;
            this.met = met;
        }

        @EventListener
        public void revoked(LeaderRevoked event) {
            try {
                met.add(together.await(20, TimeUnit.SECONDS));
            } catch (InterruptedException | BrokenBarrierException | TimeoutException alone) {
                met.add(alone);
            }
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
