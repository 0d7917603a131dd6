package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockMode;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Methods with {@link HoldLock} that return publishers. */
class HoldLockReactiveTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
            .withBean(Prices.class)
            .withPropertyValues("holdfast.store=mem:");

    @Test
    void aMonoHoldsTheLockFromSubscriptionToCompletion() {
        with((prices, client) -> {
            Sinks.One<String> work = Sinks.one();
            Mono<String> price = prices.one(work.asMono(), null);
            assertThat(client.lock("prices").status().grant()).isEmpty();
            CompletableFuture<String> result = price.toFuture();
            await().atMost(LONG)
                    .until(() -> client.lock("prices").status().grant().isPresent());
            work.tryEmitValue("12");
            assertThat(result.join()).isEqualTo("12");
            isFree(client);
        });
    }

    @Test
    void everySubscriptionHasAHoldOfItsOwn() {
        with((prices, client) -> {
            Mono<Long> token = prices.token(null);
            Long first = token.block(LONG);
            assertThat(token.block(LONG)).isGreaterThan(first);
        });
    }

    @Test
    void aFluxHoldsTheLockUntilItsLastElement() {
        with((prices, client) -> {
            assertThat(prices.many(client).collectList().block(LONG)).containsExactly(true, true, true);
            isFree(client);
        });
    }

    @Test
    void aFailureOrACancellationReleasesTheLock() {
        with((prices, client) -> {
            assertThatThrownBy(() -> prices.one(Mono.error(new IllegalStateException("failed")), null)
                            .block(LONG))
                    .hasMessage("failed");
            isFree(client);
            assertThatThrownBy(() -> prices.throwsItself().block(LONG)).hasMessage("thrown");
            isFree(client);
            Disposable subscription = prices.one(Mono.never(), null).subscribe();
            await().atMost(LONG)
                    .until(() -> client.lock("prices").status().grant().isPresent());
            subscription.dispose();
            isFree(client);
        });
    }

    @Test
    void aSubscriberThatIsCancelledWhileItWaitsLeavesTheLine() {
        with((prices, client) -> {
            Hold hold = client.lock("prices").acquire();
            Disposable waiting = prices.one(Mono.never(), null).subscribe();
            waiting.dispose();
            hold.close();
            isFree(client);
        });
    }

    @Test
    void aLockThatIsBusyFailsOrSkipsAndTheMethodDoesNotRun() {
        with((prices, client) -> {
            try (Hold hold = client.lock("prices").acquire()) {
                assertThat(hold.isValid()).isTrue();
                assertThatThrownBy(() -> prices.asksOnce().block(LONG)).isInstanceOf(LockNotAcquiredException.class);
                assertThat(prices.skips().blockOptional(LONG)).isEmpty();
            }
            assertThat(prices.skips().block(LONG)).isEqualTo("ran");
        });
    }

    @Test
    void aLossIsToldToTheSubscriberInPlaceOfTheValue() {
        with((prices, client) -> {
            assertThatThrownBy(() -> prices.loses(client, Mono.just("12"), null).block(LONG))
                    .isInstanceOf(HoldLostException.class);
            assertThatThrownBy(
                            () -> prices.losesMany(client, null).collectList().block(LONG))
                    .isInstanceOf(HoldLostException.class);
        });
    }

    @Test
    void whatFailedIsToldBeforeTheLoss() {
        with((prices, client) -> assertThatThrownBy(
                        () -> prices.loses(client, Mono.error(new IllegalStateException("failed")), null)
                                .block(LONG))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("failed")
                .satisfies(failure ->
                        assertThat(failure.getSuppressed()).hasAtLeastOneElementOfType(HoldLostException.class)));
    }

    @Test
    void anAspectInsideTheLockRuns() {
        application.withUserConfiguration(Aspects.class).run(context -> {
            assertThat(context.getBean(Prices.class).skips().block(LONG)).isEqualTo("ran");
            assertThat(context.getBean(Counting.class).calls).hasValue(1);
        });
    }

    @Test
    void aLockThatNoThreadOwnsIsReleasedWithoutWaiting() {
        HoldOptions waits = HoldOptions.defaults().awaitRelease(true).reentrant(true);
        with((prices, client) -> assertThat(
                        new LockRequest(client, List.of("prices"), false, LockMode.EXCLUSIVE, 0, null, waits)
                                .boundToNoThread()
                                .options())
                .isEqualTo(HoldOptions.defaults()));
    }

    @Test
    void severalNamesAndPermitsAreHeldTheSameWay() {
        with((prices, client) -> {
            assertThat(prices.both(client).block(LONG)).isEqualTo("prices held, taxes held");
            assertThat(prices.export().block(LONG)).isEqualTo("exported");
            assertThat(client.lock("taxes").tryAcquire(LONG)).get().satisfies(Hold::close);
            isFree(client);
        });
    }

    private static void isFree(LockClient client) throws InterruptedException {
        assertThat(client.lock("prices").tryAcquire(LONG)).get().satisfies(Hold::close);
    }

    private void with(Case test) {
        application.run(context -> test.run(context.getBean(Prices.class), context.getBean(LockClient.class)));
    }

    interface Case {
        void run(Prices prices, LockClient client) throws Exception;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAspectJAutoProxy
    static class Aspects {
        @Bean
        static Counting counting() {
            return new Counting();
        }
    }

    @Aspect
    static class Counting {
        private final AtomicInteger calls = new AtomicInteger();

        @Before("execution(* skips())")
        public void count() {
            calls.incrementAndGet();
        }
    }

    static class Prices {
        private static String state(LockClient client, String name) {
            return name + (client.lock(name).status().grant().isPresent() ? " held" : " free");
        }

        @HoldLock({"prices", "taxes"})
        public Mono<String> both(LockClient client) {
            return Mono.fromSupplier(() -> state(client, "prices") + ", " + state(client, "taxes"));
        }

        @HoldLock(name = "prices:exports", mode = LockMode.PERMITS, permits = 2)
        public Mono<String> export() {
            return Mono.just("exported");
        }

        @HoldLock(name = "prices", lease = "6s")
        public Mono<String> loses(LockClient client, Mono<String> then, Hold hold) {
            return Mono.fromRunnable(() -> HoldLockTest.lose(client, hold)).then(then);
        }

        @HoldLock(name = "prices", lease = "6s")
        public Flux<Integer> losesMany(LockClient client, Hold hold) {
            return Flux.range(0, 3).doOnComplete(() -> HoldLockTest.lose(client, hold));
        }

        @HoldLock("prices")
        public Mono<String> one(Mono<String> work, Hold hold) {
            Locks.assertHeld("prices");
            assertThat(hold.isValid()).isTrue();
            return work;
        }

        @HoldLock("prices")
        public Mono<Long> token(Hold hold) {
            return Mono.just(hold.token());
        }

        @HoldLock("prices")
        public Flux<Boolean> many(LockClient client) {
            return Flux.range(0, 3)
                    .map(i -> client.lock("prices").status().grant().isPresent());
        }

        @HoldLock("prices")
        public Mono<String> throwsItself() {
            throw new IllegalStateException("thrown");
        }

        @HoldLock(name = "prices", waitTime = "0s")
        public Mono<String> asksOnce() {
            return Mono.just("ran");
        }

        @HoldLock(name = "prices", waitTime = "0s", notAcquired = NotAcquired.SKIP)
        public Mono<String> skips() {
            return Mono.just("ran");
        }
    }
}
