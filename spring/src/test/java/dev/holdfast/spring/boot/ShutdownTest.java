package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** An application that is closed while work holds a lock: SIGTERM closes it in the same way. */
class ShutdownTest {
    private static final Duration LEASE = Duration.ofSeconds(30);

    @Test
    void workThatHoldsALockFinishesWithinTheGrace() throws InterruptedException {
        try (RedisServer redis = OrSkip.orSkip(RedisServer::start)) {
            ConfigurableApplicationContext context = start(redis, "1m");
            Work work = context.getBean(Work.class);
            work.begun.await();
            Thread closing = new Thread(context::close);
            closing.start();
            work.closing.await();
            work.mayEnd.countDown();
            closing.join();
            assertThat(work.ended.await(1, TimeUnit.MINUTES)).isTrue();
            assertThat(work.heldAtItsEnd).isTrue();
            isFreeAtOnce(redis);
        }
    }

    @Test
    void workThatTakesLongerThanTheGraceLosesItsLock() throws InterruptedException {
        try (RedisServer redis = OrSkip.orSkip(RedisServer::start)) {
            ConfigurableApplicationContext context = start(redis, "100ms");
            Work work = context.getBean(Work.class);
            work.begun.await();
            context.close();
            isFreeAtOnce(redis);
            work.mayEnd.countDown();
            assertThat(work.ended.await(1, TimeUnit.MINUTES)).isTrue();
            assertThat(work.heldAtItsEnd).isFalse();
        }
    }

    @Test
    void aContextThatIsStoppedAndStartedAgainKeepsItsClient() throws InterruptedException {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Bare.class)
                .properties("holdfast.store=mem:")
                .run()) {
            context.stop();
            context.start();
            try (Hold hold = context.getBean(LockClient.class).lock("a").acquire()) {
                assertThat(hold.isValid()).isTrue();
            }
        }
    }

    private static ConfigurableApplicationContext start(RedisServer redis, String grace) {
        return new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.data.redis.url=" + redis.uri(),
                        "spring.lifecycle.timeout-per-shutdown-phase=" + grace,
                        "holdfast.hold.lease=" + LEASE.toSeconds() + "s")
                .run();
    }

    /** Long before the lease has ended: it was released, through a connection that was still open. */
    private static void isFreeAtOnce(RedisServer redis) throws InterruptedException {
        try (LockClient other = LockClient.connect(redis.uri());
                Hold next = other.lock("work").tryAcquire(LEASE.dividedBy(3)).orElseThrow()) {
            assertThat(next.isValid()).isTrue();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
    static class Bare {}

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    @ImportAutoConfiguration({
        HoldfastAutoConfiguration.class,
        DataRedisAutoConfiguration.class,
        TaskSchedulingAutoConfiguration.class,
        LifecycleAutoConfiguration.class
    })
    static class Application {
        @Bean
        Work work(LockClient client) {
            return new Work(client);
        }
    }

    /** Holds a lock until it may end, whether or not its thread is interrupted. */
    static class Work {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch closing = new CountDownLatch(1);
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final CountDownLatch ended = new CountDownLatch(1);
        volatile boolean heldAtItsEnd;
        private final LockClient client;

        Work(LockClient client) {
            this.client = client;
        }

        @EventListener
        void close(ContextClosedEvent event) {
            closing.countDown();
        }

        @Scheduled(fixedDelay = Long.MAX_VALUE, timeUnit = TimeUnit.NANOSECONDS)
        void run() throws InterruptedException {
            Hold hold = client.lock("work").acquire();
            try {
                begun.countDown();
                awaitUninterruptibly(mayEnd);
                heldAtItsEnd = hold.isValid();
                hold.close();
            } finally {
                ended.countDown();
            }
        }

        private static void awaitUninterruptibly(CountDownLatch latch) {
            while (true) {
                try {
                    latch.await();
                    return;
                } catch (InterruptedException goOn) {
                    // work that does not heed an interrupt
                }
            }
        }
    }
}
