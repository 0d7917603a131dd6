package dev.holdfast.spring.boot;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.spring.HoldLock;
import dev.holdfast.spring.LeaderElected;
import dev.holdfast.spring.LockAnnotationsAutoConfiguration;
import dev.holdfast.spring.Once;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;

/** Code that holds a lock, or is told of an election, ends the application: the shutdown does not wait for that code. */
@Tag("thorough")
class ExitTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    /** A shutdown that waited would take a minute, or 30 s for a candidacy. */
    private static final Duration SOON = Duration.ofSeconds(20);

    private static final CountDownLatch STARTED = new CountDownLatch(1);

    /** How it ends. */
    enum Scene {
        EXIT_IN_AN_ANNOTATED_CALL {
            @Override
            void play(ConfigurableApplicationContext context) {
                context.getBean(Work.class).guarded(() -> System.exit(0));
            }
        },
        SPRINGS_EXIT_IN_AN_ANNOTATED_CALL {
            @Override
            void play(ConfigurableApplicationContext context) {
                context.getBean(Work.class).guarded(() -> System.exit(SpringApplication.exit(context)));
            }
        },
        EXIT_IN_AN_ANNOTATED_CALL_ON_A_VIRTUAL_THREAD {
            @Override
            void play(ConfigurableApplicationContext context) throws InterruptedException {
                startVirtual(() -> context.getBean(Work.class).guarded(() -> System.exit(0)))
                        .join();
            }
        },
        CLOSE_IN_AN_ANNOTATED_CALL_ON_A_VIRTUAL_THREAD {
            @Override
            void play(ConfigurableApplicationContext context) throws InterruptedException {
                startVirtual(() -> context.getBean(Work.class).guarded(context::close))
                        .join();
            }
        },
        SPRINGS_EXIT_IN_A_RUN_OF_ONCE {
            @Override
            void play(ConfigurableApplicationContext context) {
                context.getBean(Work.class).once(() -> System.exit(SpringApplication.exit(context)));
            }
        },
        EXIT_IN_THE_LISTENER_OF_AN_ELECTION {
            @Override
            void elected(ConfigurableApplicationContext context) {
                System.exit(0);
            }
        },
        SPRINGS_EXIT_IN_THE_LISTENER_OF_AN_ELECTION {
            @Override
            void elected(ConfigurableApplicationContext context) {
                System.exit(SpringApplication.exit(context));
            }
        };

        void play(ConfigurableApplicationContext context) throws InterruptedException {
            Thread.currentThread().join();
        }

        void elected(ConfigurableApplicationContext context) {}

        static Thread startVirtual(Runnable task) {
            try {
                return (Thread) Thread.class
                        .getMethod("startVirtualThread", Runnable.class)
                        .invoke(null, task);
            } catch (ReflectiveOperationException unexpected) {
                throw new IllegalStateException(unexpected);
            }
        }
    }

    /** The child JVM. */
    static final class Application {
        private Application() {}

        public static void main(String[] arguments) throws InterruptedException {
            ConfigurableApplicationContext context = new SpringApplicationBuilder(Settings.class)
                    .properties(
                            "scene=" + arguments[0],
                            "holdfast.store=mem:",
                            "holdfast.elections=e",
                            "holdfast.hold.lease=1m",
                            "spring.lifecycle.timeout-per-shutdown-phase=1m")
                    .run();
            System.out.println("started");
            STARTED.countDown();
            Scene.valueOf(arguments[0]).play(context);
        }
    }

    @ParameterizedTest
    @EnumSource(Scene.class)
    void theShutdownDoesNotWaitForIt(Scene scene) {
        assumeTrue(
                !scene.name().contains("VIRTUAL") || Runtime.version().feature() >= 21,
                "virtual threads need Java 21 or later");
        try (ChildProcess child =
                ChildJvm.main(Application.class).args(scene.name()).start()) {
            child.expect("started", PATIENCE);
            child.waitFor(SOON);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        HoldfastAutoConfiguration.class,
        LockAnnotationsAutoConfiguration.class,
        LifecycleAutoConfiguration.class
    })
    @Import(Work.class)
    static class Settings {}

    static class Work {
        private final ConfigurableApplicationContext context;

        Work(ConfigurableApplicationContext context) {
            this.context = context;
        }

        @HoldLock("guarded")
        public void guarded(Runnable work) {
            work.run();
        }

        @Once(name = "once", every = "24h")
        public void once(Runnable work) {
            work.run();
        }

        @EventListener
        void elected(LeaderElected event) throws InterruptedException {
            STARTED.await();
            Scene.valueOf(context.getEnvironment().getRequiredProperty("scene")).elected(context);
        }
    }
}
