package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockMode;
import dev.holdfast.MultiHold;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.expression.BeanFactoryResolver;
import reactor.core.publisher.Mono;

/** What {@link HoldLock} cannot do stops the start, with the method's name and the reason. */
class HoldLockRefusalsTest {
    static Object[] refusals() {
        return new Object[] {
            Arguments.of(PrivateMethod.class, "PrivateMethod.run would have no effect, because the method is private"),
            Arguments.of(StaticMethod.class, "the method is static"),
            Arguments.of(FinalMethod.class, "the method is final"),
            Arguments.of(PrimitiveSkip.class, "cannot return a value of the primitive type int"),
            Arguments.of(SkipForEver.class, "waits for ever"),
            Arguments.of(NoPermits.class, "permits = 1 or more"),
            Arguments.of(PermitsOfALock.class, "permits = 1 or more"),
            Arguments.of(SharedNames.class, "exclusively only"),
            Arguments.of(HoldOfSeveral.class, "the parameter is a MultiHold"),
            Arguments.of(MultiHoldOfOne.class, "the parameter is a Hold"),
            Arguments.of(PlainFuture.class, "return a CompletableFuture"),
            Arguments.of(ShortLease.class, "the lease must be"),
            Arguments.of(EmptyName.class, "is empty"),
            Arguments.of(BrokenName.class, "cannot be parsed"),
            Arguments.of(MissingProperty.class, "shop.nowhere"),
            Arguments.of(OnceAsWell.class, "would wait for itself"),
            Arguments.of(LeaderAsWell.class, "would wait for itself"),
            Arguments.of(LaterByCallable.class, "whose work begins after the method has returned"),
            Arguments.of(LaterBySupplier.class, "whose work begins after the method has returned"),
            Arguments.of(LaterByStream.class, "whose work begins after the method has returned"),
            Arguments.of(LeaderOfMono.class, "LeaderOfMono.run returns a Mono"),
            Arguments.of(LeaderOfExpression.class, "has an expression in its name"),
            Arguments.of(OnceOfExpression.class, "has an expression in its name"),
            Arguments.of(OnceTwice.class, "have the same name"),
            Arguments.of(OnceAsAKey.class, "uses for one of its keys"),
            Arguments.of(TouchingExpressions.class, "#{#b} follows another expression directly"),
            Arguments.of(UnknownClient.class, "there is no lock client 'orders'"),
        };
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void stopsTheStart(Class<?> bean, String reason) {
        start(bean, reason, "holdfast.store=mem:");
    }

    @ParameterizedTest
    @MethodSource("unclear")
    void twoClientsWithoutAQualifierStopTheStart(Class<?> bean) {
        start(
                bean,
                "there is not exactly one lock client",
                "holdfast.clients.a.store=mem:a",
                "holdfast.clients.b.store=mem:b");
    }

    static Object[] unclear() {
        return new Object[] {Fine.class, FineOnce.class, FineLeader.class};
    }

    @Test
    void anExpressionOverArgumentsNeedsTheirNames() throws NoSuchMethodException {
        Method withoutNames = String.class.getMethod("charAt", int.class);
        assertThatThrownBy(() -> new NameTemplates(
                        List.of("order:#{#id}"),
                        withoutNames,
                        new BeanFactoryResolver(new DefaultListableBeanFactory())))
                .hasMessageContaining("String.charAt")
                .hasMessageContaining("-parameters");
    }

    private static void start(Class<?> bean, String reason, String... properties) {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
                .withBean("annotated", bean)
                .withPropertyValues(properties)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining(reason)
                        .hasStackTraceContaining(bean.getSimpleName()));
    }

    static class Fine {
        @HoldLock("a")
        public void run() {}
    }

    static class FineOnce {
        @Once(every = "1h")
        public void run() {}
    }

    static class FineLeader {
        @LeaderOnly("a")
        public void run() {}
    }

    static class OnceAsAKey {
        @Once(name = "orders", key = "#{#id}")
        public void handle(String id) {}

        @Once(name = "orders:cleanup", every = "1h")
        public void cleanUp() {}
    }

    static class TouchingExpressions {
        @HoldLock("a:#{#a}#{#b}")
        public void run(String a, String b) {}
    }

    static class PrivateMethod {
        @HoldLock("a")
        @SuppressWarnings("UnusedMethod")
        private void run() {}
    }

    static class StaticMethod {
        @HoldLock("a")
        public static void run() {}
    }

    static class FinalMethod {
        @HoldLock("a")
        public final void run() {}
    }

    static class PrimitiveSkip {
        @HoldLock(name = "a", waitTime = "0s", notAcquired = NotAcquired.SKIP)
        public int run() {
            return 1;
        }
    }

    static class SkipForEver {
        @HoldLock(name = "a", notAcquired = NotAcquired.SKIP)
        public void run() {}
    }

    static class NoPermits {
        @HoldLock(name = "a", mode = LockMode.PERMITS)
        public void run() {}
    }

    static class PermitsOfALock {
        @HoldLock(name = "a", permits = 3)
        public void run() {}
    }

    static class SharedNames {
        @HoldLock(
                name = {"a", "b"},
                mode = LockMode.SHARED)
        public void run() {}
    }

    static class HoldOfSeveral {
        @HoldLock({"a", "b"})
        public void run(Hold hold) {}
    }

    static class MultiHoldOfOne {
        @HoldLock("a")
        public void run(MultiHold hold) {}
    }

    static class PlainFuture {
        @HoldLock("a")
        public Future<String> run() {
            throw new IllegalStateException();
        }
    }

    static class ShortLease {
        @HoldLock(name = "a", lease = "1ms")
        public void run() {}
    }

    static class EmptyName {
        @HoldLock(" ")
        public void run() {}
    }

    static class BrokenName {
        @HoldLock("order:#{#id")
        public void run(int id) {}
    }

    static class MissingProperty {
        @HoldLock("${shop.nowhere}")
        public void run() {}
    }

    static class OnceAsWell {
        @Once(every = "1h")
        @HoldLock
        public void run() {}
    }

    static class LeaderAsWell {
        @LeaderOnly("a")
        @HoldLock("a")
        public void run() {}
    }

    static class LaterByCallable {
        @HoldLock("a")
        public Callable<String> run() {
            return () -> "";
        }
    }

    static class LaterBySupplier {
        @HoldLock("a")
        public Supplier<String> run() {
            return () -> "";
        }
    }

    static class LaterByStream {
        @HoldLock("a")
        public IntStream run() {
            return IntStream.of(1);
        }
    }

    static class LeaderOfMono {
        @LeaderOnly("a")
        public Mono<String> run() {
            return Mono.just("");
        }
    }

    static class LeaderOfExpression {
        @LeaderOnly("tenant-#{#id}")
        public void run(int id) {}
    }

    static class OnceOfExpression {
        @Once(name = "tenant-#{#id}", every = "1h")
        public void run(int id) {}
    }

    static class OnceTwice {
        @Once(every = "1h")
        public void run(int id) {}

        @Once(every = "1h")
        public void run(long id) {}
    }

    static class UnknownClient {
        @HoldLock(name = "a", client = "orders")
        public void run() {}
    }
}
