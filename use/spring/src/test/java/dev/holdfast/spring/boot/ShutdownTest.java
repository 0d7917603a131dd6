package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Candidacy;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.LockClient;
import dev.holdfast.OnceRun;
import dev.holdfast.spring.HoldLock;
import dev.holdfast.spring.LeaderOnly;
import dev.holdfast.spring.LockAnnotationsAutoConfiguration;
import dev.holdfast.spring.Locks;
import dev.holdfast.spring.Once;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;
import org.springframework.test.util.AopTestUtils;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** An application that is closed while work holds a lock: SIGTERM closes it in the same way. */
class ShutdownTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration LONG = Duration.ofMinutes(1);

    @Test
    void workThatHoldsALockFinishesWithinTheGrace() throws InterruptedException {
        try (RedisServer redis = OrSkip.orSkip(RedisServer::start)) {
            ConfigurableApplicationContext context = start(redis, "1m");
            Work work = context.getBean(Work.class);
            inTime(work.begun);
            Thread closing = new Thread(context::close);
            closing.start();
            inTime(context.getBean(Drain.class).begun);
            assertThat(work.hold.isValid()).as("while the schedulers drain").isTrue();
            assertThat(closing.isAlive()).isTrue();
            work.mayEnd.countDown();
            inTime(work.ended);
            closing.join(LONG.toMillis());
            assertThat(closing.isAlive()).isFalse();
            assertThat(work.heldAtItsEnd).isTrue();
            isFreeAtOnce(redis);
        }
    }

    @Test
    @Tag("thorough")
    void workThatTakesLongerThanTheGraceLosesItsLock() throws InterruptedException {
        try (RedisServer redis = OrSkip.orSkip(RedisServer::start)) {
            ConfigurableApplicationContext context = start(redis, "100ms");
            Work work = context.getBean(Work.class);
            inTime(work.begun);
            context.close();
            isFreeAtOnce(redis);
            work.mayEnd.countDown();
            inTime(work.ended);
            assertThat(work.heldAtItsEnd).isFalse();
        }
    }

    @Test
    void noOtherServerLeadsWhileTheSchedulersDrainWorkOfTheLeader(@TempDir Path folder) throws InterruptedException {
        String store = "sqlite:" + folder.resolve("locks.db");
        ConfigurableApplicationContext context = new SpringApplicationBuilder(Leading.class)
                .properties("holdfast.store=" + store, "spring.lifecycle.timeout-per-shutdown-phase=1m")
                .run();
        Job job = AopTestUtils.getTargetObject(context.getBean(Job.class));
        inTime(job.begun);
        Thread closing = new Thread(context::close);
        closing.start();
        inTime(context.getBean(Drain.class).begun);
        try (LockClient other = LockClient.connect(store);
                Candidacy next = other.election("leader").stand()) {
            assertThat(next.awaitTerm(Duration.ofSeconds(1))).isEmpty();
            job.mayEnd.countDown();
            assertThat(next.awaitTerm(LONG)).isPresent();
        }
        closing.join(LONG.toMillis());
        assertThat(closing.isAlive()).isFalse();
        assertThat(job.heldAtItsEnd).isTrue();
    }

    @Test
    void aRunOnAThreadThatSpringDoesNotKnowIsRecordedAsDone(@TempDir Path folder) throws InterruptedException {
        String store = "sqlite:" + folder.resolve("locks.db");
        closeDuring(store, Job::once);
        try (LockClient other = LockClient.connect(store)) {
            assertThat(other.once("once").last())
                    .hasValueSatisfying(run -> assertThat(run.state()).isEqualTo(OnceRun.State.DONE));
        }
    }

    @Test
    @Tag("thorough")
    void aLeaderOnAThreadThatSpringDoesNotKnowLeadsToTheEndOfItsWork(@TempDir Path folder) throws InterruptedException {
        closeDuring("sqlite:" + folder.resolve("locks.db"), Job::lead);
    }

    /** Closes an application while a thread of its own runs a call, which finishes under its lock. */
    private static void closeDuring(String store, Consumer<Job> call) throws InterruptedException {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(Guarded.class)
                .properties("holdfast.store=" + store, "spring.lifecycle.timeout-per-shutdown-phase=1m")
                .run();
        Job bean = context.getBean(Job.class);
        Job job = AopTestUtils.getTargetObject(bean);
        Thread caller = new Thread(() -> await().atMost(LONG).until(() -> {
            call.accept(bean);
            return job.begun.getCount() == 0;
        }));
        caller.start();
        inTime(job.begun);
        Thread closing = new Thread(context::close);
        closing.start();
        inTime(context.getBean(Drain.class).begun);
        await().atMost(LONG).until(() -> closing.getState() == Thread.State.TIMED_WAITING || !closing.isAlive());
        job.mayEnd.countDown();
        caller.join(LONG.toMillis());
        closing.join(LONG.toMillis());
        assertThat(closing.isAlive()).isFalse();
        assertThat(job.heldAtItsEnd).isTrue();
    }

    @Test
    @Tag("thorough")
    void anAnnotatedCallOnAThreadThatSpringDoesNotKnowFinishesWithinTheGraceToo() throws InterruptedException {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(Guarded.class)
                .properties("holdfast.store=mem:", "spring.lifecycle.timeout-per-shutdown-phase=1m")
                .run();
        Work bean = context.getBean(Work.class);
        Work work = AopTestUtils.getTargetObject(bean);
        Thread caller = new Thread(() -> {
            try {
                bean.guarded(null);
            } catch (InterruptedException unexpected) {
                throw new IllegalStateException(unexpected);
            }
        });
        caller.start();
        inTime(work.begun);
        Thread closing = new Thread(context::close);
        closing.start();
        inTime(context.getBean(Drain.class).begun);
        await().atMost(LONG).until(() -> closing.getState() == Thread.State.TIMED_WAITING || !closing.isAlive());
        assertThat(work.hold.isValid()).isTrue();
        work.mayEnd.countDown();
        caller.join(LONG.toMillis());
        closing.join(LONG.toMillis());
        assertThat(closing.isAlive()).isFalse();
        assertThat(work.heldAtItsEnd).isTrue();
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(booleans = {false, true})
    void aCallThatWaitedForOneInProgressFinishesWithinTheGraceToo(boolean reactive) throws Exception {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(Guarded.class)
                .properties("holdfast.store=mem:", "spring.lifecycle.timeout-per-shutdown-phase=1m")
                .run();
        Work bean = context.getBean(Work.class);
        Work work = AopTestUtils.getTargetObject(bean);
        CountDownLatch firstMayEnd = new CountDownLatch(1);
        CompletableFuture<String> first = onItsOwnThread(() -> bean.first(firstMayEnd));
        inTime(work.firstBegun);
        CompletableFuture<String> second =
                onItsOwnThread(() -> reactive ? bean.reactive().block() : bean.guarded(null));
        await().atMost(LONG)
                .until(() -> context.getBean(LockClient.class).statistics().waitingNow() == 1);
        Thread closing = new Thread(context::close);
        closing.start();
        inTime(context.getBean(Drain.class).begun);
        await().atMost(LONG).until(() -> closing.getState() == Thread.State.TIMED_WAITING || !closing.isAlive());
        firstMayEnd.countDown();
        first.get();
        inTime(work.begun);
        closing.join(500);
        assertThat(closing.isAlive()).isTrue();
        work.mayEnd.countDown();
        assertThat(second.get()).isEqualTo("ended");
        closing.join(LONG.toMillis());
        assertThat(closing.isAlive()).isFalse();
    }

    private static <T> CompletableFuture<T> onItsOwnThread(Callable<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        new Thread(() -> {
                    try {
                        result.complete(call.call());
                    } catch (Throwable failed) {
                        result.completeExceptionally(failed);
                    }
                })
                .start();
        return result;
    }

    @Test
    void anAnnotatedCallThatTakesLongerThanTheGraceLosesItsLock() throws InterruptedException {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(Guarded.class)
                .properties("holdfast.store=mem:", "spring.lifecycle.timeout-per-shutdown-phase=100ms")
                .run();
        Work bean = context.getBean(Work.class);
        Work work = AopTestUtils.getTargetObject(bean);
        CompletableFuture<Object> failure = CompletableFuture.supplyAsync(() -> {
            try {
                return bean.guarded(null);
            } catch (Exception failed) {
                return failed;
            }
        });
        inTime(work.begun);
        context.close();
        assertThat(work.hold.isValid()).isFalse();
        work.mayEnd.countDown();
        inTime(work.ended);
        assertThat(failure.join()).isInstanceOf(HoldLostException.class);
    }

    @Test
    @Tag("thorough")
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

    @Test
    void clientsCloseInTheirPhaseThoughAListenerOfTheCloseThrows() {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(Bare.class, Afterwards.class)
                .properties("holdfast.store=mem:")
                .run();
        Afterwards afterwards = context.getBean(Afterwards.class);
        context.close();
        assertThat(afterwards.wasClosed).isTrue();
    }

    @Test
    void aClientThatSomebodyElseClosesStaysOpen() throws InterruptedException {
        try (LockClient registered = LockClient.connect("mem:")) {
            ConfigurableApplicationContext context = new SpringApplicationBuilder(Lent.class)
                    .initializers(starting -> starting.getBeanFactory().registerSingleton("registered", registered))
                    .run();
            try (LockClient lent = context.getBean("lent", LockClient.class)) {
                LockClient own = context.getBean("own", LockClient.class);
                context.close();
                for (LockClient open : List.of(lent, registered)) {
                    try (Hold hold = open.lock("a").acquire()) {
                        assertThat(hold.isValid()).isTrue();
                    }
                }
                assertThatThrownBy(() -> own.lock("a")).isInstanceOf(ClientClosedException.class);
            }
        }
    }

    private static ConfigurableApplicationContext start(RedisServer redis, String grace) {
        return new SpringApplicationBuilder(Application.class, BootClasses.REDIS)
                .properties(
                        "spring.data.redis.url=" + redis.uri(),
                        "spring.lifecycle.timeout-per-shutdown-phase=" + grace,
                        "holdfast.hold.lease=" + LEASE.toSeconds() + "s")
                .run();
    }

    private static void inTime(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
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

    /** Asks, when the phase of the clients is over, whether they are closed. */
    static class Afterwards implements SmartLifecycle {
        private final LockClient client;
        private volatile boolean running;
        volatile boolean wasClosed;

        Afterwards(LockClient client) {
            this.client = client;
        }

        @EventListener
        @Order(Ordered.HIGHEST_PRECEDENCE)
        void closing(ContextClosedEvent event) {
            throw new IllegalStateException("as a listener may");
        }

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
            try {
                client.lock("a");
            } catch (ClientClosedException closed) {
                wasClosed = true;
            }
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public int getPhase() {
            return 0;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
    static class Lent {
        @Bean(destroyMethod = "")
        LockClient lent() {
            return LockClient.connect("mem:");
        }

        @Bean
        LockClient own() {
            return LockClient.connect("mem:");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    @ImportAutoConfiguration({
        HoldfastAutoConfiguration.class,
        TaskSchedulingAutoConfiguration.class,
        LifecycleAutoConfiguration.class
    })
    static class Application {
        @Bean
        Work work(LockClient client) {
            return new Work(client);
        }

        @Bean
        Drain drain() {
            return new Drain();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        HoldfastAutoConfiguration.class,
        LockAnnotationsAutoConfiguration.class,
        LifecycleAutoConfiguration.class
    })
    @Import(Job.class)
    static class Guarded {
        @Bean
        Work work(LockClient client) {
            return new Work(client);
        }

        @Bean
        Drain drain() {
            return new Drain();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    @ImportAutoConfiguration({
        HoldfastAutoConfiguration.class,
        LockAnnotationsAutoConfiguration.class,
        TaskSchedulingAutoConfiguration.class,
        LifecycleAutoConfiguration.class
    })
    @Import({Job.class, Drain.class})
    static class Leading {}

    /** Notes that everything has ended which ends before the schedulers drain. */
    static class Drain implements SmartLifecycle {
        final CountDownLatch begun = new CountDownLatch(1);
        private volatile boolean running;

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
            begun.countDown();
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public int getPhase() {
            return ExecutorConfigurationSupport.DEFAULT_PHASE + 1;
        }
    }

    /** Works under the lock of a term or a turn until it may end. */
    static class Job {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch mayEnd = new CountDownLatch(1);
        volatile boolean heldAtItsEnd;

        @Scheduled(fixedDelay = 10) // is skipped until this server leads
        @LeaderOnly("leader")
        public void lead() {
            work();
        }

        @Once(name = "once", every = "24h")
        public void once() {
            work();
        }

        private void work() {
            begun.countDown();
            Work.awaitUninterruptibly(mayEnd);
            Locks.assertHeld();
            heldAtItsEnd = true;
        }
    }

    /** Holds a lock until it may end, whether or not its thread is interrupted. */
    static class Work {
        final CountDownLatch firstBegun = new CountDownLatch(1);
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final CountDownLatch ended = new CountDownLatch(1);
        volatile boolean heldAtItsEnd;
        volatile Hold hold;
        private final LockClient client;

        Work(LockClient client) {
            this.client = client;
        }

        @Scheduled(fixedDelay = Long.MAX_VALUE, timeUnit = TimeUnit.NANOSECONDS)
        void run() throws InterruptedException {
            hold = client.lock("work").acquire();
            try {
                untilItMayEnd();
                hold.close();
            } finally {
                ended.countDown();
            }
        }

        @HoldLock("guarded")
        public String first(CountDownLatch mayEnd) {
            firstBegun.countDown();
            awaitUninterruptibly(mayEnd);
            return "ended";
        }

        @HoldLock("guarded")
        public Mono<String> reactive() {
            return Mono.fromCallable(() -> {
                        begun.countDown();
                        awaitUninterruptibly(mayEnd);
                        return "ended";
                    })
                    .subscribeOn(Schedulers.boundedElastic());
        }

        @HoldLock("guarded")
        public String guarded(Hold given) throws InterruptedException {
            hold = given;
            try {
                untilItMayEnd();
            } finally {
                ended.countDown();
            }
            return "ended";
        }

        private void untilItMayEnd() {
            begun.countDown();
            awaitUninterruptibly(mayEnd);
            heldAtItsEnd = hold.isValid();
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
