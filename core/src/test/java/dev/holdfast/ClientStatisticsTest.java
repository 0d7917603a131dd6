package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockEvent.NotAcquired.Reason;
import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The figures of a client, each against what really happened. */
@Timeout(120)
class ClientStatisticsTest {
    private static final HoldOptions AWAITED = HoldOptions.defaults().awaitRelease(true);

    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);
    private final UnreliableStore line = new UnreliableStore(memory.open(time));

    private LockClient client() {
        return LockClient.builder(line).time(time).build();
    }

    @Test
    void aFreshClientHasDoneNothing() {
        try (LockClient client = client()) {
            ClientStatistics none = client.statistics();
            assertThat(none.acquisitions() + none.waits() + none.heldNow() + none.waitingNow() + none.storeCalls())
                    .isZero();
            assertThat(none.notAcquiredByReason()).hasSize(Reason.values().length);
            assertThat(none.lossesByCause()).hasSize(Loss.Cause.values().length);
            assertThat(none.losses() + none.notAcquired()).isZero();
        }
    }

    @Test
    void aWaitAHandOverAndTheirTimesAreCounted() throws InterruptedException {
        try (LockClient client = client()) {
            DistributedLock lock = client.lock("a", HoldOptions.defaults().handOver(64, Duration.ofMinutes(1)));
            Hold first = lock.acquire();
            CompletableFuture<Hold> second = lock.acquireAsync();
            assertThat(client.statistics().waitingNow()).isEqualTo(1);
            assertThat(client.statistics().heldNow()).isEqualTo(1);
            time.advance(Duration.ofSeconds(2));
            first.close();
            Hold last = second.join();
            time.advance(Duration.ofSeconds(3));
            last.close();

            ClientStatistics done = client.statistics();
            assertThat(done.waits()).isEqualTo(2);
            assertThat(done.waitingNow()).isZero();
            assertThat(done.waitNanos()).isEqualTo(TimeUnit.SECONDS.toNanos(2));
            assertThat(done.acquisitions()).isEqualTo(2);
            assertThat(done.handOvers()).isEqualTo(1);
            assertThat(done.releases()).isEqualTo(2);
            assertThat(done.heldNow()).isZero();
            assertThat(done.holdNanos()).isEqualTo(TimeUnit.SECONDS.toNanos(5));
        }
    }

    @Test
    void whatEndedWithoutTheLockIsCountedByReason() throws InterruptedException {
        try (LockClient client = client()) {
            try (Hold hold = client.lock("a").acquire()) {
                assertThat(client.lock("a").tryAcquire()).isEmpty();
                assertThat(client.lock("a").acquireAsync().cancel(true)).isTrue();
                Thread.currentThread().interrupt();
                assertThatThrownBy(() -> client.lock("a").acquire()).isInstanceOf(InterruptedException.class);
                assertThat(client.statistics().waits())
                        .as("one interrupted before it asked never waited")
                        .isEqualTo(2);
            }
            line.claims = UnreliableStore.Line.REPLY_LOST;
            assertThatThrownBy(() -> client.lock("b").acquire()).isInstanceOf(StoreUnavailableException.class);

            ClientStatistics done = client.statistics();
            assertThat(done.notAcquired(Reason.TAKEN)).isEqualTo(1);
            assertThat(done.notAcquired(Reason.CANCELLED)).isEqualTo(1);
            assertThat(done.notAcquired(Reason.STORE_FAILED)).isEqualTo(1);
            assertThat(done.notAcquired()).isEqualTo(3);
            assertThat(done.waitingNow()).isZero();
            assertThat(done.failedStoreCalls()).isEqualTo(1);
        }
    }

    @Test
    void renewalsDoubtsAndLossesAreCounted() throws InterruptedException {
        try (LockClient client = client()) {
            Hold hold = client.lock("a").acquire();
            time.advance(Duration.ofSeconds(11));
            time.sleepMachine(Duration.ofSeconds(1));
            assertThat(hold.isValid()).isFalse();
            time.advance(Duration.ofMillis(1));
            assertThat(hold.isValid()).isTrue();
            line.renewals = UnreliableStore.Line.REQUEST_LOST;
            time.advance(Duration.ofSeconds(31));
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);

            ClientStatistics done = client.statistics();
            assertThat(done.renewals()).isEqualTo(2);
            assertThat(done.suspects()).isEqualTo(1);
            assertThat(done.failedRenewals()).isGreaterThan(2);
            assertThat(done.losses()).isEqualTo(1);
            assertThat(done.losses(Loss.Cause.NOT_RENEWED_IN_TIME)).isEqualTo(1);
            assertThat(done.releases()).isZero();
            assertThat(done.heldNow()).isZero();
        }
    }

    @Test
    void aLossFoundAtTheReleaseIsCountedBesideTheRelease() throws InterruptedException {
        try (LockClient client = client()) {
            Hold hold = client.lock("a", AWAITED).acquire();
            Breaking.shown(client, "a", true);
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);

            ClientStatistics done = client.statistics();
            assertThat(done.lateLosses()).isEqualTo(1);
            assertThat(done.releases()).isEqualTo(1);
            assertThat(done.losses()).isZero();
        }
    }

    @Test
    void requestsToTheStoreAreCounted() throws InterruptedException {
        try (LockClient client = client()) {
            client.lock("a", AWAITED).acquire().close();
            client.lock("a").status();
            client.list("*");
            ClientStatistics done = client.statistics();
            assertThat(done.claims()).isEqualTo(1);
            assertThat(done.storeCalls()).as("claim, release, status, list").isEqualTo(4);
            assertThat(done.failedStoreCalls()).isZero();

            line.releases = UnreliableStore.Line.REQUEST_LOST;
            client.lock("a").acquire().close();
            assertThat(client.statistics().failedReleases()).isEqualTo(1);
            assertThat(client.statistics().failedStoreCalls()).isEqualTo(1);

            line.releases = UnreliableStore.Line.UP;
            time.advance(Duration.ofSeconds(1));
            assertThat(client.statistics().storeCalls())
                    .as("a claim, and a release that was sent twice")
                    .isEqualTo(7);
        }
    }

    /** Several threads do everything at once on a line that loses requests; a listener keeps the same books. */
    @Test
    void underStressTheFiguresAddUpAndAgreeWithWhatListenersHear() throws Exception {
        MemoryStore real = new MemoryStore();
        UnreliableStore bad = new UnreliableStore(real.open());
        Ear ear = new Ear();
        AtomicBoolean done = new AtomicBoolean();
        ExecutorService pool = Executors.newFixedThreadPool(9);
        try (LockClient client = LockClient.builder(bad).listener(ear).build()) {
            Future<?> reader = pool.submit(() -> {
                while (!done.get()) {
                    assertAddsUp(client.statistics());
                }
            });
            List<Future<?>> workers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                workers.add(pool.submit(() -> work(client, bad)));
            }
            for (Future<?> worker : workers) {
                worker.get();
            }
            done.set(true);
            reader.get();
            await().untilAsserted(() -> {
                ClientStatistics end = client.statistics();
                assertThat(end.heldNow()).isZero();
                assertThat(end.waitingNow()).isZero();
                assertThat(end.acquisitions()).isPositive().isEqualTo(end.releases() + end.losses());
                assertAgrees(ear, end);
            });
            assertOrder(ear);
        } finally {
            pool.shutdownNow();
        }
    }

    private static void assertAddsUp(ClientStatistics now) {
        assertThat(now.heldNow()).isNotNegative();
        assertThat(now.waitingNow()).isNotNegative();
        assertThat(now.acquisitions()).isEqualTo(now.releases() + now.losses() + now.heldNow());
        assertThat(now.handOvers()).isLessThanOrEqualTo(now.acquisitions());
    }

    private static void assertAgrees(Ear ear, ClientStatistics end) {
        assertThat(end.droppedEvents()).isZero();
        assertThat(ear.all(LockEvent.Waiting.class)).hasSize((int) end.waits());
        assertThat(ear.all(LockEvent.Acquired.class)).hasSize((int) end.acquisitions());
        assertThat(ear.all(LockEvent.Acquired.class).stream().filter(LockEvent.Acquired::handedOver))
                .hasSize((int) end.handOvers());
        assertThat(ear.all(LockEvent.NotAcquired.class)).hasSize((int) end.notAcquired());
        assertThat(ear.all(LockEvent.Released.class)).hasSize((int) end.releases());
        assertThat(ear.all(Loss.class)).hasSize((int) (end.losses() + end.lateLosses()));
        assertThat(ear.all(LockEvent.ReleaseFailed.class)).hasSize((int) end.failedReleases());
    }

    /** Of each lock: acquired, then ended, then the next acquired; never two at once, and tokens rise. */
    private static void assertOrder(Ear ear) {
        Map<String, Long> open = new HashMap<>();
        Map<String, Long> last = new HashMap<>();
        for (LockEvent event : ear.heard) {
            if (event instanceof LockEvent.Acquired acquired) {
                assertThat(open.put(event.name(), acquired.token()))
                        .as("open before %s", event)
                        .isNull();
                Long before = last.put(event.name(), acquired.token());
                assertThat(before == null || before < acquired.token())
                        .as("token of %s after %s", event, before)
                        .isTrue();
            } else if (event instanceof LockEvent.Released released) {
                assertThat(open.remove(event.name())).isEqualTo(released.token());
            } else if (event instanceof Loss loss && Long.valueOf(loss.token()).equals(open.get(loss.name()))) {
                open.remove(loss.name());
            } else if (event instanceof LockEvent.Renewed renewed) {
                assertThat(open.get(event.name())).as("open at %s", event).isEqualTo(renewed.token());
            }
        }
        assertThat(open).isEmpty();
    }

    private static void work(LockClient client, UnreliableStore bad) {
        Random random = ThreadLocalRandom.current();
        UnreliableStore.Line[] faults = UnreliableStore.Line.values();
        HoldOptions brief = HoldOptions.defaults().lease(Duration.ofMillis(150));
        for (int i = 0; i < 120; i++) {
            boolean disturbed = random.nextInt(20) == 0;
            UnreliableStore.Line state = disturbed ? faults[random.nextInt(faults.length)] : UnreliableStore.Line.UP;
            bad.claims = state;
            bad.releases = state;
            bad.renewals = state;
            try {
                step(client.lock(random.nextBoolean() ? "a" : "b", brief), random);
            } catch (HoldfastException | InterruptedException expected) {
                // a bad line fails calls and loses holds; what counts is that it is counted
            }
        }
        bad.claims = UnreliableStore.Line.UP;
        bad.releases = UnreliableStore.Line.UP;
        bad.renewals = UnreliableStore.Line.UP;
    }

    private static void step(DistributedLock lock, Random random) throws InterruptedException {
        switch (random.nextInt(4)) {
            case 0 -> lock.tryAcquire().ifPresent(Hold::close);
            case 1 ->
                lock.tryAcquire(Duration.ofNanos(random.nextInt(3_000_000))).ifPresent(Hold::close);
            case 2 -> {
                CompletableFuture<Hold> future = lock.acquireAsync();
                if (random.nextBoolean() || !future.cancel(true)) {
                    future.thenAccept(Hold::close).exceptionally(failed -> null).join();
                }
            }
            default -> {
                try (Hold hold = lock.acquire()) {
                    if (random.nextInt(100) == 0) {
                        await().until(() -> !hold.isValid() || random.nextInt(3) == 0); // some are held past a renewal
                    }
                }
            }
        }
    }
}
