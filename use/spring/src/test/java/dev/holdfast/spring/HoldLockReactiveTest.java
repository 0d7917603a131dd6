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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

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

    static Stream<Arguments> bodies() {
        return Stream.of(
                body("in the method itself", Prices::blocks),
                body("at the subscription", (prices, work) -> prices.one(Mono.fromRunnable(work), null)),
                body(
                        "subscribed to on a scheduler",
                        (prices, work) -> prices.one(
                                Mono.<String>fromRunnable(work).subscribeOn(Schedulers.boundedElastic()), null)),
                body(
                        "a callable on a scheduler",
                        (prices, work) -> prices.one(
                                Mono.fromCallable(() -> {
                                            work.run();
                                            return "12";
                                        })
                                        .subscribeOn(Schedulers.boundedElastic()),
                                null)),
                body(
                        "published on a scheduler",
                        (prices, work) -> prices.one(
                                Mono.just("12")
                                        .publishOn(Schedulers.boundedElastic())
                                        .doOnNext(price -> work.run()),
                                null)),
                body(
                        "after the answer of a thread of others",
                        (prices, work) -> prices.one(
                                Mono.fromFuture(() -> CompletableFuture.supplyAsync(
                                                () -> "12",
                                                CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS)))
                                        .publishOn(Schedulers.boundedElastic())
                                        .doOnNext(price -> work.run()),
                                null)),
                body(
                        "after a delay",
                        (prices, work) -> prices.one(
                                Mono.delay(Duration.ofMillis(20))
                                        .doOnNext(ticks -> work.run())
                                        .thenReturn("12"),
                                null)),
                body(
                        "in an inner sequence",
                        (prices, work) -> prices.one(
                                Mono.just("12")
                                        .flatMap(price -> Mono.<String>fromRunnable(work)
                                                .subscribeOn(Schedulers.boundedElastic())),
                                null)),
                body(
                        "in a second method with a lock",
                        (prices, work) -> prices.outer(() -> prices.inner(
                                Mono.<String>fromRunnable(work).subscribeOn(Schedulers.boundedElastic())))),
                body(
                        "of a flux",
                        (prices, work) -> prices.several(Flux.range(0, 9)
                                .publishOn(Schedulers.boundedElastic())
                                .doOnNext(price -> work.run()))),
                body(
                        "of a flux at the subscription",
                        (prices, work) -> prices.several(Flux.range(0, 9).doOnNext(price -> work.run()))),
                body(
                        "of a flux at a later request",
                        (prices, work) -> prices.several(Flux.range(0, 9).doOnNext(price -> {
                                    if (price > 0) {
                                        work.run();
                                    }
                                }))
                                .publishOn(Schedulers.boundedElastic(), 1)),
                body(
                        "behind a flux",
                        (prices, work) -> prices.several(Flux.range(0, 9)).doOnNext(price -> work.run())));
    }

    private static Arguments body(String where, BiFunction<Prices, Runnable, Publisher<?>> made) {
        return Arguments.of(Named.of(where, made));
    }

    @ParameterizedTest
    @MethodSource("bodies")
    void aCancellationReleasesTheLockWhenTheBlockingBodyHasEnded(BiFunction<Prices, Runnable, Publisher<?>> made) {
        with((prices, client) -> {
            Blocking work = new Blocking();
            BaseSubscriber<Object> subscriber = new BaseSubscriber<>() {};
            CompletableFuture<Void> subscribed =
                    CompletableFuture.runAsync(() -> made.apply(prices, work).subscribe(subscriber));
            work.begun.await();
            subscriber.dispose();
            assertThat(client.lock("prices").tryAcquire(Duration.ofMillis(200))).isEmpty();
            work.mayEnd.countDown();
            subscribed.join();
            isFree(client);
        });
    }

    @ParameterizedTest
    @MethodSource("bodies")
    void anErrorThatReactorDoesNotReportIsToldAndReleasesTheLock(BiFunction<Prices, Runnable, Publisher<?>> made) {
        with((prices, client) -> {
            NoSuchMethodError error = new NoSuchMethodError();
            CompletableFuture<Throwable> told = new CompletableFuture<>();
            Flux.from(made.apply(prices, () -> {
                        throw error;
                    }))
                    .subscribe(value -> {}, told::complete, () -> told.complete(null));
            assertThat(told.get(1, TimeUnit.MINUTES)).isSameAs(error);
            isFree(client);
        });
    }

    @Test
    void aTimeoutOfTheCallerReleasesTheLockWhenTheBlockingBodyHasEnded() {
        with((prices, client) -> {
            Blocking work = new Blocking();
            Sinks.Empty<String> time = Sinks.empty();
            Mono<String> price = Mono.<String>fromRunnable(work).subscribeOn(Schedulers.boundedElastic());
            CompletableFuture<String> result =
                    prices.one(price, null).timeout(time.asMono()).toFuture();
            work.begun.await();
            time.tryEmitEmpty();
            assertThatThrownBy(() -> result.get(1, TimeUnit.MINUTES)).hasCauseInstanceOf(TimeoutException.class);
            assertThat(client.lock("prices").tryAcquire(Duration.ofMillis(200))).isEmpty();
            work.mayEnd.countDown();
            isFree(client);
        });
    }

    @Test
    void aTimeoutInsideTheBodyIsToldWhenTheBlockingPartHasEnded() {
        with((prices, client) -> {
            Blocking work = new Blocking();
            Sinks.Empty<String> time = Sinks.empty();
            Mono<String> price = Mono.<String>fromRunnable(work)
                    .subscribeOn(Schedulers.boundedElastic())
                    .timeout(time.asMono(), Mono.just("estimate"));
            CompletableFuture<String> result = prices.one(price, null).toFuture();
            work.begun.await();
            time.tryEmitEmpty();
            assertThat(client.lock("prices").tryAcquire(Duration.ofMillis(200))).isEmpty();
            assertThat(result).isNotDone();
            work.mayEnd.countDown();
            assertThat(result.get(1, TimeUnit.MINUTES)).isEqualTo("estimate");
            assertThat(client.lock("prices").tryAcquire()).get().satisfies(Hold::close);
        });
    }

    /** Blocks, whether it is interrupted or not, until it may end. */
    private static final class Blocking implements Runnable {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch mayEnd = new CountDownLatch(1);

        @Override
        public void run() {
            begun.countDown();
            while (true) {
                try {
                    mayEnd.await();
                    return;
                } catch (InterruptedException cancelled) {
                    // as a database driver that reads on
                }
            }
        }
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
        @HoldLock("prices")
        public Mono<String> blocks(Runnable work) {
            work.run();
            return Mono.just("12");
        }

        @HoldLock("prices")
        public Mono<String> outer(Supplier<Mono<String>> inner) {
            return Mono.defer(inner);
        }

        @HoldLock("inner")
        public Mono<String> inner(Mono<String> work) {
            return work;
        }

        @HoldLock("prices")
        public Flux<Integer> several(Flux<Integer> work) {
            return work;
        }

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
