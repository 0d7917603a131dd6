package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockMode;
import dev.holdfast.MultiHold;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
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
            Arguments.of(LaterByRunnable.class, "whose work begins after the method has returned"),
            Arguments.of(LaterByServerResponse.class, "whose work begins after the method has returned"),
            Arguments.of(ResponseOfStreaming.class, "a ResponseEntity<StreamingResponseBody>"),
            Arguments.of(ResponseOfMono.class, "a ResponseEntity<Mono>"),
            Arguments.of(ResponseOfFlux.class, "a ResponseEntity<Flux>"),
            Arguments.of(FutureOfResponse.class, "a CompletableFuture<ResponseEntity<StreamingResponseBody>>"),
            Arguments.of(MonoOfResponse.class, "a Mono<ResponseEntity<Flux>>"),
            Arguments.of(FluxOfFlux.class, "a Flux<Flux>"),
            Arguments.of(OptionalOfStream.class, "a Optional<Stream>"),
            Arguments.of(ListOfFutures.class, "a List<CompletableFuture>"),
            Arguments.of(ArrayOfFutures.class, "CompletableFuture"),
            Arguments.of(BoundedStream.class, "a List<Stream>"),
            Arguments.of(GenericMono.class, "a Mono"),
            Arguments.of(OwnStage.class, "return a CompletableFuture"),
            Arguments.of(LeaderOfMono.class, "LeaderOfMono.run returns a Mono"),
            Arguments.of(LeaderOfFuture.class, "returns a CompletableFuture"),
            Arguments.of(LeaderOfStage.class, "returns a CompletionStage"),
            Arguments.of(LeaderOfCallable.class, "returns a Callable"),
            Arguments.of(LeaderOfStream.class, "returns a Stream"),
            Arguments.of(LeaderOfDeferredResult.class, "returns a DeferredResult"),
            Arguments.of(LeaderOfResponse.class, "returns a ResponseEntity<Flux>"),
            Arguments.of(OnceOfFuture.class, "returns a CompletableFuture"),
            Arguments.of(OnceOfStage.class, "returns a CompletionStage"),
            Arguments.of(OnceOfCallable.class, "returns a Callable"),
            Arguments.of(OnceOfStream.class, "returns a Stream"),
            Arguments.of(OnceOfFlux.class, "returns a Flux"),
            Arguments.of(OnceOfDeferredResult.class, "returns a DeferredResult"),
            Arguments.of(OnceOfResponse.class, "returns a ResponseEntity<Flux>"),
            Arguments.of(OnceOfGenericFuture.class, "returns a CompletableFuture"),
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

    static class LaterByRunnable {
        @HoldLock("a")
        public Runnable run() {
            return () -> {};
        }
    }

    static class LaterByServerResponse {
        @HoldLock("a")
        public ServerResponse run() {
            return ServerResponse.ok().build();
        }
    }

    static class ResponseOfStreaming {
        @HoldLock("a")
        public ResponseEntity<StreamingResponseBody> run() {
            return ResponseEntity.ok(out -> {});
        }
    }

    static class ResponseOfMono {
        @HoldLock("a")
        public ResponseEntity<Mono<String>> run() {
            return ResponseEntity.ok(Mono.just(""));
        }
    }

    static class ResponseOfFlux {
        @HoldLock("a")
        public ResponseEntity<Flux<String>> run() {
            return ResponseEntity.ok(Flux.just(""));
        }
    }

    static class FutureOfResponse {
        @HoldLock("a")
        public CompletableFuture<ResponseEntity<StreamingResponseBody>> run() {
            return CompletableFuture.completedFuture(ResponseEntity.ok(out -> {}));
        }
    }

    static class MonoOfResponse {
        @HoldLock("a")
        public Mono<ResponseEntity<Flux<String>>> run() {
            return Mono.just(ResponseEntity.ok(Flux.just("")));
        }
    }

    static class FluxOfFlux {
        @HoldLock("a")
        public Flux<Flux<String>> run() {
            return Flux.just(Flux.just(""));
        }
    }

    static class OptionalOfStream {
        @HoldLock("a")
        public Optional<Stream<String>> run() {
            return Optional.of(Stream.of(""));
        }
    }

    static class ListOfFutures {
        @HoldLock("a")
        public List<? extends CompletableFuture<String>> run() {
            return List.of();
        }
    }

    static class ArrayOfFutures {
        @HoldLock("a")
        public CompletableFuture<?>[] run() {
            return new CompletableFuture<?>[0];
        }
    }

    static class BoundedStream {
        @HoldLock("a")
        public <T extends Comparable<T>, S extends Stream<T>> List<S> run() {
            return List.of();
        }
    }

    abstract static class Generic<T> {
        @HoldLock("a")
        public T run() {
            return null;
        }
    }

    static class GenericMono extends Generic<Mono<String>> {}

    interface Stage<T> extends CompletionStage<T> {}

    static class OwnStage {
        @HoldLock("a")
        public Stage<String> run() {
            return null;
        }
    }

    static class LeaderOfFuture {
        @LeaderOnly("a")
        public CompletableFuture<String> run() {
            return new CompletableFuture<>();
        }
    }

    static class LeaderOfStage {
        @LeaderOnly("a")
        public CompletionStage<String> run() {
            return new CompletableFuture<>();
        }
    }

    static class LeaderOfCallable {
        @LeaderOnly("a")
        public Callable<String> run() {
            return () -> "";
        }
    }

    static class LeaderOfStream {
        @LeaderOnly("a")
        public Stream<String> run() {
            return Stream.of("");
        }
    }

    static class LeaderOfDeferredResult {
        @LeaderOnly("a")
        public DeferredResult<String> run() {
            return new DeferredResult<>();
        }
    }

    static class LeaderOfResponse {
        @LeaderOnly("a")
        public ResponseEntity<Flux<String>> run() {
            return ResponseEntity.ok(Flux.just(""));
        }
    }

    static class OnceOfFuture {
        @Once(every = "1h")
        public CompletableFuture<String> run() {
            return new CompletableFuture<>();
        }
    }

    static class OnceOfStage {
        @Once(every = "1h")
        public CompletionStage<String> run() {
            return new CompletableFuture<>();
        }
    }

    static class OnceOfCallable {
        @Once(every = "1h")
        public Callable<String> run() {
            return () -> "";
        }
    }

    static class OnceOfStream {
        @Once(every = "1h")
        public Stream<String> run() {
            return Stream.of("");
        }
    }

    static class OnceOfFlux {
        @Once(every = "1h")
        public Flux<String> run() {
            return Flux.just("");
        }
    }

    static class OnceOfDeferredResult {
        @Once(every = "1h")
        public DeferredResult<String> run() {
            return new DeferredResult<>();
        }
    }

    static class OnceOfResponse {
        @Once(every = "1h")
        public ResponseEntity<Flux<String>> run() {
            return ResponseEntity.ok(Flux.just(""));
        }
    }

    abstract static class GenericOnce<T> {
        @Once(every = "1h")
        public T run() {
            return null;
        }
    }

    static class OnceOfGenericFuture extends GenericOnce<CompletableFuture<String>> {}

    static class UnknownClient {
        @HoldLock(name = "a", client = "orders")
        public void run() {}
    }
}
