package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.LockClient;
import dev.holdfast.OnceRun;
import dev.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.domain.Page;
import org.springframework.data.domain.PageImpl;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Methods whose declared type does not say that their work goes on after they have returned: the value says it. */
class ResultsAtRunTimeTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, LockAnnotationsAutoConfiguration.class))
            .withBean(Work.class)
            .withPropertyValues("holdfast.store=mem:");

    static Stream<Object> unfinished() {
        return Stream.of(
                (Callable<String>) () -> "",
                (Supplier<String>) () -> "",
                Stream.of(""),
                Mono.just(""),
                Flux.just(""),
                new DeferredResult<String>(),
                new FutureTask<>(() -> ""),
                (StreamingResponseBody) out -> {},
                Optional.of(Stream.of("")),
                ResponseEntity.ok((StreamingResponseBody) out -> {}),
                ResponseEntity.ok(Flux.just("")),
                ResponseEntity.ok(new CompletableFuture<String>()));
    }

    @ParameterizedTest
    @MethodSource("unfinished")
    void aResultWhoseWorkIsYetToComeIsRefused(Object value) {
        with((work, client) -> {
            assertThatThrownBy(() -> work.hold(() -> value))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("@HoldLock on ResultsAtRunTimeTest.Work.hold returned a")
                    .hasMessageContaining("without the lock");
            isFree(client);
        });
    }

    @ParameterizedTest
    @Tag("thorough")
    @MethodSource("unfinished")
    void workThatIsYetToComeIsNotRecordedAsDone(Object value) {
        with((work, client) -> {
            assertThatThrownBy(() -> work.once(() -> value))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("@Once on ResultsAtRunTimeTest.Work.once returned a");
            assertThat(client.once("once").last())
                    .get()
                    .extracting(OnceRun::state)
                    .isEqualTo(OnceRun.State.FAILED);
        });
    }

    @ParameterizedTest
    @MethodSource("unfinished")
    void workThatIsYetToComeIsRefusedToTheLeader(Object value) {
        with((work, client) -> {
            await().atMost(LONG).until(() -> "led".equals(work.lead(() -> "led")));
            assertThatThrownBy(() -> work.lead(() -> value))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("@LeaderOnly on ResultsAtRunTimeTest.Work.lead returned a");
        });
    }

    @Test
    void aFutureBehindAnObjectHoldsTheLockUntilItHasCompleted() {
        with((work, client) -> {
            CompletableFuture<String> future = new CompletableFuture<>();
            CompletableFuture<?> result = (CompletableFuture<?>) work.hold(() -> future);
            assertThat(client.lock("hold").tryAcquire()).isEmpty();
            future.complete("done");
            assertThat(result.join()).isEqualTo("done");
            isFree(client);
        });
    }

    @Test
    void aFutureBehindATypeParameterHoldsTheLockUntilItHasCompleted() {
        with((work, client) -> {
            CompletableFuture<String> future = new CompletableFuture<>();
            CompletableFuture<String> result = work.generic(() -> future);
            assertThat(client.lock("hold").tryAcquire()).isEmpty();
            future.completeExceptionally(new IllegalStateException("failed"));
            assertThatThrownBy(result::join).hasRootCauseMessage("failed");
            isFree(client);
        });
    }

    @Test
    void theLossOfALockIsToldByAFutureBehindAnObject() {
        with((work, client) -> {
            CompletableFuture<?> result = (CompletableFuture<?>) work.hold(() -> {
                HoldLockTest.lose(client, (Hold) Locks.current().orElseThrow());
                return new CompletableFuture<String>()
                        .completeOnTimeout("done", 1, java.util.concurrent.TimeUnit.MILLISECONDS);
            });
            assertThatThrownBy(result::join).hasCauseInstanceOf(HoldLostException.class);
        });
    }

    /** It is a supplier too: of a stream of what it contains. */
    @Test
    void aPageOfSpringDataIsNoWorkThatIsYetToCome() {
        assertThat(Methods.isLater(Page.class)).isFalse();
        PageImpl<String> page = new PageImpl<>(List.of("found"));
        with((work, client) -> assertThat(work.hold(() -> page)).isSameAs(page));
    }

    @Test
    void aFutureThatIsDoneAndAPlainValueAreReturnedAsTheyAre() {
        with((work, client) -> {
            CompletableFuture<String> done = CompletableFuture.completedFuture("done");
            assertThat(((CompletableFuture<?>) work.hold(() -> done)).join()).isEqualTo("done");
            assertThat(work.hold(() -> ResponseEntity.ok("done"))).isEqualTo(ResponseEntity.ok("done"));
            assertThat(work.hold(() -> null)).isNull();
            assertThat(work.once(() -> done)).isSameAs(done);
            isFree(client);
        });
    }

    @Test
    void whatAFutureCompletesWithIsJudgedToo() {
        with((work, client) -> {
            assertThatThrownBy(() -> work.future(CompletableFuture.completedFuture(Stream.of("")))
                            .join())
                    .hasMessageContaining("returned a");
            assertThatThrownBy(() -> work.mono(Mono.just(ResponseEntity.ok(Flux.just(""))))
                            .block(LONG))
                    .hasMessageContaining("returned a");
            assertThatThrownBy(() -> work.flux(Flux.just("", Flux.just(""))).blockLast(LONG))
                    .hasMessageContaining("returned a");
            isFree(client);
        });
    }

    @Test
    void whereTheThreadOwnsTheLockAFutureBehindAnObjectIsRefused() {
        application.withPropertyValues("holdfast.hold.reentrant=true").run(context -> {
            Work work = context.getBean(Work.class);
            assertThat(work.hold(() -> work.hold(() -> "inside"))).isEqualTo("inside");
            assertThatThrownBy(() -> work.hold(CompletableFuture::new))
                    .hasMessageContaining("declare the method with the return type CompletableFuture");
            isFree(context.getBean(LockClient.class));
        });
    }

    private static void isFree(LockClient client) throws InterruptedException {
        assertThat(client.lock("hold").tryAcquire(LONG)).get().satisfies(Hold::close);
    }

    private void with(Case test) {
        application.run(context -> test.run(context.getBean(Work.class), context.getBean(LockClient.class)));
    }

    interface Case {
        void run(Work work, LockClient client) throws Exception;
    }

    static class Work {
        @HoldLock(name = "hold", lease = "6s")
        public Object hold(Supplier<Object> body) {
            return body.get();
        }

        @HoldLock("hold")
        public <T> T generic(Supplier<T> body) {
            return body.get();
        }

        @HoldLock("hold")
        public CompletableFuture<Object> future(CompletableFuture<Object> result) {
            return result;
        }

        @HoldLock("hold")
        public Mono<Object> mono(Mono<Object> result) {
            return result;
        }

        @HoldLock("hold")
        public Flux<Object> flux(Flux<Object> result) {
            return result;
        }

        @Once(name = "once", every = "365d")
        public Object once(Supplier<Object> body) {
            return body.get();
        }

        @LeaderOnly("lead")
        public Object lead(Supplier<Object> body) {
            return body.get();
        }
    }
}
