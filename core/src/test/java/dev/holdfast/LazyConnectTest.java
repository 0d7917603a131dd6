package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.is;

import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFactory;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that was made before its store answered. */
@Timeout(60)
class LazyConnectTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final MemoryStore memory = new MemoryStore();
    private final Opener opener = new Opener();
    private final LockClient client =
            LockClient.builder(opener).connectLazily(true).build();

    @AfterEach
    void close() {
        opener.blocked.countDown();
        client.close();
    }

    @Test
    void theFirstRequestOpensTheStore() {
        assertThat(opener.attempts).hasValue(0);
        opener.failure = null;

        assertThat(client.lock("a").tryAcquire()).isPresent();
        assertThat(client.lock("b").tryAcquire()).isPresent();

        assertThat(opener.attempts).hasValue(1);
    }

    @Test
    void eachRequestTriesAgainUntilTheStoreAnswers() {
        DistributedLock lock = client.lock("a");
        assertThatThrownBy(lock::tryAcquire)
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("'a'")
                .hasMessageContaining("down");
        assertThatThrownBy(lock::status).isInstanceOf(StoreUnavailableException.class);
        assertThatThrownBy(() -> client.list("*")).isInstanceOf(StoreUnavailableException.class);
        assertThat(opener.attempts).hasValue(3);

        opener.failure = null;

        assertThat(lock.tryAcquire()).isPresent();
        assertThat(lock.status().grant()).isPresent();
    }

    @Test
    void aCallerWhoWaitsIsServedWhenTheStoreAnswers() throws Exception {
        CompletableFuture<Hold> waits = client.lock("a").acquireAsync();
        await().atMost(LONG).until(() -> opener.attempts.get() >= 2);
        assertThat(waits).isNotDone();

        opener.failure = null;

        try (Hold hold = waits.get(30, TimeUnit.SECONDS)) {
            assertThat(hold.isValid()).isTrue();
        }
    }

    @Test
    void aTimedWaitEndsInItsTimeAndSaysThatTheStoreDoesNotAnswer() {
        assertThatThrownBy(() -> client.lock("a").tryAcquire(Duration.ofMillis(400)))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("down");
    }

    @Test
    void aWaitWithoutATimeEndsWithTheOutageLimit() {
        try (LockClient impatient = LockClient.builder(opener)
                .connectLazily(true)
                .outageLimit(Duration.ofMillis(300))
                .build()) {
            assertThatThrownBy(() -> impatient.lock("a").acquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("outageLimit");
        }
    }

    @Test
    void aRefusalEndsAWaitAtOnce() {
        opener.failure = new StoreRefusedException("wrong password");

        CompletableFuture<Hold> waits = client.lock("a").acquireAsync();

        ExecutionException end = catchThrowableOfType(ExecutionException.class, () -> waits.get(30, TimeUnit.SECONDS));
        assertThat(end).hasCauseInstanceOf(StoreRefusedException.class).hasMessageContaining("wrong password");
        assertThat(opener.attempts).hasValue(1);
    }

    @Test
    void requestsShareTheAttemptUnderWay() {
        opener.failure = null;
        CountDownLatch answers = opener.block();
        List<CompletableFuture<Hold>> waits = List.of(
                client.lock("a").acquireAsync(),
                client.lock("b").acquireAsync(),
                client.lock("c").acquireAsync());

        answers.countDown();

        waits.forEach(each -> each.orTimeout(30, TimeUnit.SECONDS).join().close());
        assertThat(opener.attempts).hasValue(1);
    }

    @Test
    void aTimedWaitThatEndsWhileTheStoreIsOpenedHearsWhatTheStoreSays() throws Exception {
        opener.failure = null;
        try (LockClient other = LockClient.builder(memory.open()).build();
                Hold held = other.lock("a").acquire()) {
            CountDownLatch answers = opener.block();
            CompletableFuture<Optional<Hold>> soon = client.lock("a").tryAcquireAsync(Duration.ofMillis(50));
            CompletableFuture<Optional<Hold>> free = client.lock("b").tryAcquireAsync(Duration.ofMillis(50));
            assertThat(held.isValid()).isTrue();
            await().pollDelay(Duration.ofMillis(100)).until(() -> !soon.isDone() && !free.isDone());

            answers.countDown();

            assertThat(soon.get(30, TimeUnit.SECONDS)).as("another holds it").isEmpty();
            free.get(30, TimeUnit.SECONDS).ifPresent(Hold::close);
        }
    }

    @Test
    void aClientThatNeverConnectedIsClosedAtOnce() {
        client.close();

        assertThat(opener.attempts).hasValue(0);
        assertThatThrownBy(() -> client.lock("a")).isInstanceOf(ClientClosedException.class);
    }

    @Test
    @Tag("thorough")
    void whatIsOpenedAfterTheCloseIsClosed() {
        opener.failure = null;
        CountDownLatch answers = opener.block();
        CompletableFuture<Hold> waits = client.lock("a").acquireAsync();
        await().atMost(LONG).until(() -> opener.attempts.get() == 1);

        client.close();
        answers.countDown();

        assertThatThrownBy(() -> waits.get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(ClientClosedException.class);
        await().atMost(LONG).untilAtomic(opener.closed, is(1));
    }

    @Test
    void theStoreIsClosedWithTheClient() {
        opener.failure = null;
        client.lock("a").tryAcquire().orElseThrow().close();

        client.close();

        assertThat(opener.closed).hasValue(1);
    }

    @Test
    void anOutageFromTheStartIsReportedOnceAndItsEnd() {
        AtomicInteger began = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        LockListener counts = new LockListener() {
            @Override
            public void onStoreUnreachable(StoreEvent.Unreachable event) {
                began.incrementAndGet();
            }

            @Override
            public void onStoreReachable(StoreEvent.Reachable event) {
                ended.incrementAndGet();
            }
        };
        try (LockClient told =
                LockClient.builder(opener).connectLazily(true).listener(counts).build()) {
            CompletableFuture<Hold> waits = told.lock("a").acquireAsync();
            await().atMost(LONG).until(() -> opener.attempts.get() >= 3);
            opener.failure = null;
            waits.orTimeout(30, TimeUnit.SECONDS).join().close();

            await().atMost(LONG).until(() -> ended.get() == 1);
            assertThat(began).hasValue(1);
        }
    }

    @Test
    void whatTheStoreCanDoIsKnownOnceItIsOpen() {
        assertThat(client.capabilities().caveats()).singleElement().asString().contains("not connected");
        assertThat(client.capabilities().fair()).isFalse();
        opener.failure = null;

        client.lock("a").status();

        assertThat(client.capabilities().fair()).isTrue();
        assertThat(client.capabilities().caveats()).noneMatch(each -> each.contains("not connected"));
    }

    @Test
    void aModeThatTheStoreLacksIsRefusedByTheFirstRequest() {
        StoreFactory exclusiveAlone = context -> new ForwardedStore(memory.open()) {
            @Override
            public Capabilities capabilities() {
                return super.capabilities().modes(Set.of(LockMode.EXCLUSIVE));
            }
        };
        try (LockClient lacking =
                LockClient.builder(exclusiveAlone).connectLazily(true).build()) {
            DistributedSemaphore semaphore = lacking.semaphore("a", 3);

            assertThatThrownBy(semaphore::tryAcquire)
                    .hasMessageContaining("PERMITS")
                    .hasMessageContaining("another store");
            assertThatThrownBy(() -> lacking.semaphore("a", 3)).isInstanceOf(UnsupportedByStoreException.class);
        }
    }

    @Test
    void aUrlThatNoStoreKnowsIsRefusedAtOnce() {
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> LockClient.builder("nosuch:x").connectLazily(true).build())
                .withMessageContaining("nosuch");
    }

    @Test
    void aStoreThatDoesNotReportWaitersRetainsNothingAndTheLogSaysSoOnce() throws Exception {
        StoreFactory silent = context -> {
            HostileStore store = new HostileStore(memory.open(context.time()));
            store.caps = capabilities -> capabilities.wanted(false);
            return store;
        };
        HoldOptions retained = HoldOptions.defaults().retain(Duration.ofMinutes(5));
        try (LogEar log = new LogEar();
                LockClient lazy = LockClient.builder(silent).connectLazily(true).build();
                LockClient rival = LockClient.builder(context -> memory.open(context.time()))
                        .build()) {
            DistributedLock first = lazy.lock("a", retained);
            DistributedLock second = lazy.lock("b", retained);

            first.acquire().close();
            second.acquire().close();

            assertThat(rival.lock("a").tryAcquire(LONG)).isPresent();
            assertThat(rival.lock("b").tryAcquire(LONG)).isPresent();
            assertThat(log.with("does not report when another client waits")).hasSize(1);
        }
    }

    /** A store that is down at first, or slow to be opened. */
    private final class Opener implements StoreFactory {
        private final AtomicInteger attempts = new AtomicInteger();
        private final AtomicInteger closed = new AtomicInteger();
        private volatile @Nullable RuntimeException failure = new StoreUnavailableException("the store is down");
        private volatile CountDownLatch blocked = new CountDownLatch(0);

        CountDownLatch block() {
            CountDownLatch fresh = new CountDownLatch(1);
            blocked = fresh;
            return fresh;
        }

        @Override
        public Store open(StoreContext context) {
            attempts.incrementAndGet();
            try {
                blocked.await();
            } catch (InterruptedException e) {
                throw new StoreUnavailableException("interrupted", e);
            }
            RuntimeException thrown = failure;
            if (thrown != null) {
                throw thrown;
            }
            return new ForwardedStore(memory.open(context.time())) {
                @Override
                public void close() {
                    closed.incrementAndGet();
                    super.close();
                }
            };
        }
    }
}
