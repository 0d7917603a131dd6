package dev.holdfast.spring;

import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Reactive methods with {@link HoldLock} whose bodies block, on a machine with one processor. */
@Tag("thorough")
class ReactiveOneProcessorTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** The work of the application. */
    enum Scene {
        NESTED {
            @Override
            Mono<?> play(Orders orders) {
                return orders.outer(Mono.defer(() -> orders.inner(Mono.just("done"))));
            }
        },
        NESTED_BY_A_BODY_THAT_BLOCKS {
            @Override
            Mono<?> play(Orders orders) {
                return orders.outer(
                        Mono.fromCallable(() -> orders.inner(Mono.just("done")).block()));
            }
        },
        INDEPENDENT {
            @Override
            Mono<?> play(Orders orders) {
                CountDownLatch both = new CountDownLatch(2); // each body ends when the other has begun
                Mono<Boolean> body = Mono.fromCallable(() -> {
                    both.countDown();
                    return both.await(20, TimeUnit.SECONDS);
                });
                // A lock that is granted before the caller listens has its body run on the caller's thread.
                Scheduler callers = Schedulers.boundedElastic();
                return Mono.zip(
                                orders.outer(body).subscribeOn(callers),
                                orders.inner(body).subscribeOn(callers))
                        .filter(ran -> ran.getT1().equals(true) && ran.getT2().equals(true));
            }
        };

        abstract Mono<?> play(Orders orders);
    }

    /** The methods. */
    static class Orders {
        @HoldLock("outer")
        Mono<Object> outer(Mono<?> body) {
            return body.cast(Object.class);
        }

        @HoldLock("inner")
        Mono<Object> inner(Mono<?> body) {
            return body.cast(Object.class);
        }
    }

    /** The child JVM. */
    static final class Application {
        private Application() {}

        public static void main(String[] arguments) {
            new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(
                            HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
                    .withBean(Orders.class)
                    .withPropertyValues("holdfast.store=mem:")
                    .run(context -> {
                        Object result = Scene.valueOf(arguments[0])
                                .play(context.getBean(Orders.class))
                                .block(Duration.ofSeconds(30));
                        System.out.println(result == null ? "one after the other" : "ended");
                    });
            Runtime.getRuntime().halt(0);
        }
    }

    @ParameterizedTest
    @EnumSource(Scene.class)
    void endOnOneProcessor(Scene scene) {
        ends(scene, "-XX:ActiveProcessorCount=1");
    }

    @ParameterizedTest
    @EnumSource(Scene.class)
    @Tag("thorough")
    void endWithACommonPoolWithoutThreads(Scene scene) {
        ends(scene, "-XX:ActiveProcessorCount=1", "-Djava.util.concurrent.ForkJoinPool.common.parallelism=0");
    }

    private static void ends(Scene scene, String... flags) {
        try (ChildProcess application =
                ChildJvm.main(Application.class).flags(flags).args(scene.name()).start()) {
            application.expect("ended", PATIENCE);
        }
    }
}
