package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import dev.holdfast.spring.inherited.Hidden;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A method whose calls do not all pass the proxy is refused; every other one is intercepted, wherever it is declared. */
class InterceptedMethodsTest {
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
            .withPropertyValues("holdfast.store=mem:");

    @ParameterizedTest
    @ValueSource(classes = {InheritedHoldLock.class, InheritedOnce.class, InheritedLeaderOnly.class})
    void aMethodThatIsVisibleInAnotherPackageAloneStopsTheStart(Class<?> bean) {
        application
                .withBean("annotated", bean)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining(bean.getSuperclass().getSimpleName() + ".run would have no effect on")
                        .hasStackTraceContaining("make it public or protected"));
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                AfterConstruction.class,
                BeforeDestruction.class,
                LeaderAfterConstruction.class,
                OnceAfterConstruction.class,
                Initializing.class,
                Disposable.class
            })
    void aMethodThatSpringCallsOnTheObjectItselfStopsTheStart(Class<?> bean) {
        application
                .withBean("annotated", bean)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("Spring calls it on the object itself"));
    }

    @Test
    void aPackagePrivateMethodOfTheBeansOwnPackageIsIntercepted() {
        application
                .withBean(Own.class)
                .run(context -> assertThat(context.getBean(Own.class).run()).isTrue());
    }

    @Test
    void aProtectedMethodOfAnotherPackageIsIntercepted() {
        application
                .withBean(InheritedProtected.class)
                .run(context -> assertThat(Hidden.Protected.call(context.getBean(InheritedProtected.class)))
                        .isTrue());
    }

    @Test
    void aDefaultMethodOfAnInterfaceIsIntercepted() {
        application
                .withBean(ByInterface.class, () -> new ByInterface() {})
                .run(context ->
                        assertThat(context.getBean(ByInterface.class).run()).isTrue());
    }

    @Test
    void aDefaultMethodIsInterceptedByAProxyOfTheClassToo() {
        application
                .withPropertyValues("spring.aop.proxy-target-class=true")
                .withBean(OfInterface.class)
                .run(context ->
                        assertThat(context.getBean(ByInterface.class).run()).isTrue());
    }

    static class InheritedHoldLock extends Hidden.OfHoldLock {}

    static class InheritedOnce extends Hidden.OfOnce {}

    static class InheritedLeaderOnly extends Hidden.OfLeaderOnly {}

    static class InheritedProtected extends Hidden.Protected {}

    static class Own {
        @HoldLock("a")
        boolean run() {
            return Locks.current().isPresent();
        }
    }

    interface ByInterface {
        @HoldLock("a")
        default boolean run() {
            return Locks.current().isPresent();
        }
    }

    static class OfInterface implements ByInterface {}

    static class AfterConstruction {
        @PostConstruct
        @HoldLock("a")
        public void run() {}
    }

    static class BeforeDestruction {
        @PreDestroy
        @HoldLock("a")
        public void run() {}
    }

    static class LeaderAfterConstruction {
        @PostConstruct
        @LeaderOnly("a")
        public void run() {}
    }

    static class OnceAfterConstruction {
        @PostConstruct
        @Once(every = "1h")
        public void run() {}
    }

    static class Initializing implements InitializingBean {
        @Override
        @HoldLock("a")
        public void afterPropertiesSet() {}
    }

    static class Disposable implements DisposableBean {
        @Override
        @HoldLock("a")
        public void destroy() {}
    }
}
