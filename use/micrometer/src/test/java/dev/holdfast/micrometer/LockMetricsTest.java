package dev.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.LockEvent;
import dev.holdfast.LockListener;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testkit.TestLocks;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LockMetricsTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final LockMetrics metrics = LockMetrics.on(registry, NameTag.before(':'));

    @AutoClose
    private final TestLocks locks = TestLocks.standing();

    private final LockClient client = locks.anotherClient(builder -> builder.listener(metrics));
    private final DistributedLock lock = client.lock("order:42");

    LockMetricsTest() {
        metrics.bind(client);
    }

    private static Duration s(long seconds) {
        return Duration.ofSeconds(seconds);
    }

    private Timer waits(String outcome) {
        locks.events(); // waits until the listeners have heard everything
        return registry.get("holdfast.wait")
                .tags("outcome", outcome, "store", "mem:")
                .timer();
    }

    private double count(String meter, String... tags) {
        locks.events();
        return registry.get(meter).tags(tags).counter().count();
    }

    private double gauge(String meter) {
        return registry.get(meter).tag("store", "mem:").gauge().value();
    }

    @Test
    void waitsAndHoldsAreTimed() throws InterruptedException {
        Hold theirs = locks.somebodyElse().take("order:42");
        CompletableFuture<Hold> waits = lock.acquireAsync();
        assertThat(gauge("holdfast.waiting")).isEqualTo(1);
        locks.advance(s(3));
        theirs.close();
        Hold hold = waits.join();
        assertThat(gauge("holdfast.waiting")).isZero();
        assertThat(gauge("holdfast.held")).isEqualTo(1);
        locks.advance(s(4));
        hold.close();

        assertThat(waits("acquired").totalTime(TimeUnit.SECONDS)).isEqualTo(3);
        Timer holds = registry.get("holdfast.hold").tag("lock", "order").timer();
        assertThat(holds.count()).isEqualTo(1);
        assertThat(holds.totalTime(TimeUnit.SECONDS)).isEqualTo(4);
        assertThat(gauge("holdfast.held")).isZero();
    }

    @Test
    void eachEndOfAWaitHasItsOutcome() throws InterruptedException {
        Hold first = lock.acquire();
        CompletableFuture<Hold> next = lock.acquireAsync();
        first.close();
        Hold hold = next.join();
        assertThat(lock.tryAcquire()).isEmpty();
        CompletableFuture<?> timed = lock.tryAcquireAsync(s(1));
        locks.advance(s(1));
        timed.join();
        hold.close();

        assertThat(waits("acquired").count()).isEqualTo(1);
        assertThat(waits("taken").count()).isEqualTo(1);
        assertThat(waits("timed_out").count()).isEqualTo(1);
        assertThat(waits("handed_over").count()).isEqualTo(1);
    }

    @Test
    void lossesAreCountedByCause() throws InterruptedException {
        Hold hold = lock.acquire();
        locks.lose(hold);
        Hold other = client.lock("job:7").acquire();
        locks.pauseHolder("job:7");

        assertThat(other.isValid()).isFalse();
        assertThat(count("holdfast.losses", "lock", "order", "cause", "session_ended"))
                .isEqualTo(1);
        assertThat(count("holdfast.losses", "lock", "job", "cause", "not_renewed_in_time"))
                .isEqualTo(1);
    }

    @Test
    void anOutageIsSeenWhileItLastsAndTimedAfterIt() throws InterruptedException {
        Hold hold = lock.acquire();
        assertThat(gauge("holdfast.store.reachable")).isEqualTo(1);
        locks.storeAway();
        locks.advance(s(12)); // a renewal fails after ten
        assertThat(gauge("holdfast.store.reachable")).isZero();
        assertThat(count("holdfast.renewals", "outcome", "unanswered")).isPositive();
        locks.storeBack();
        locks.advance(s(10));
        assertThat(gauge("holdfast.store.reachable")).isEqualTo(1);
        assertThat(registry.get("holdfast.store.outages").timer().count()).isEqualTo(1);
        assertThat(count("holdfast.renewals", "outcome", "moved")).isPositive();
        assertThat(registry.get("holdfast.store.failures").functionCounter().count())
                .isPositive();
        hold.close();
        assertThat(registry.get("holdfast.store.requests").functionTimer().count())
                .isGreaterThan(2);
    }

    @Test
    void aClientThatIsBoundInAnOutageIsSeenToBeWithoutItsStoreThenAndInTheNextOutage() throws InterruptedException {
        locks.storeAway();
        beginOutage();
        LockMetrics late = LockMetrics.on(registry, NameTag.none(), Tag.of("client", "late"));
        late.bind(client);
        for (int outage = 0; outage < 3; outage++) {
            assertThat(reachableByLate()).isZero();
            locks.storeBack();
            lock.acquire().close();
            locks.events();
            assertThat(reachableByLate()).isEqualTo(1);
            locks.storeAway();
            beginOutage();
        }
    }

    private double reachableByLate() {
        locks.events();
        return registry.get("holdfast.store.reachable")
                .tag("client", "late")
                .gauge()
                .value();
    }

    @Test
    void anOutageIsSeenThoughItsEventsAreDropped() throws Exception {
        CompletableFuture<Void> slow = new CompletableFuture<>();
        client.addListener(new LockListener() {
            @Override
            public void onAcquired(LockEvent.Acquired event) {
                slow.join();
            }
        });
        while (client.statistics().droppedEvents() == 0) {
            lock.acquire().close();
        }
        CompletableFuture<Void> away = CompletableFuture.runAsync(locks::storeAway); // it waits for the listeners
        await().until(this::isAway);
        assertThat(gauge("holdfast.store.reachable")).isZero();
        slow.complete(null);
        away.get();
        locks.storeBack();
        lock.acquire().close();
        locks.events();
        assertThat(gauge("holdfast.store.reachable")).isEqualTo(1);
    }

    @Test
    void aClientThatIsClosedInAnOutageLeavesNoneBehind() {
        locks.storeAway();
        beginOutage();
        assertThat(gauge("holdfast.store.reachable")).isZero();
        client.close();
        assertThat(gauge("holdfast.store.reachable")).isEqualTo(1);
    }

    /** A request that gets no answer. */
    private void beginOutage() {
        assertThat(isAway()).isTrue();
        locks.events();
    }

    private boolean isAway() {
        try {
            lock.status();
            return false;
        } catch (StoreUnavailableException noAnswer) {
            return true;
        }
    }

    @Test
    void aReleaseThatFailsIsCounted() throws InterruptedException {
        Hold hold = lock.acquire();
        locks.storeAway();
        hold.close();
        assertThat(count("holdfast.releases.failed", "lock", "order")).isEqualTo(1);
    }

    @Test
    void theNumberOfNamesIsBounded() {
        NameTag names = NameTag.first(2);
        assertThat(names.of("a")).isEqualTo("a");
        assertThat(names.of("b")).isEqualTo("b");
        assertThat(names.of("c")).isEqualTo("other");
        assertThat(names.of("a")).isEqualTo("a");
        assertThat(NameTag.none().of("order:42")).isEqualTo("all");
        assertThat(NameTag.before(':').of("nightly")).isEqualTo("nightly");
        assertThat(NameTag.by(name -> "", 5).of("a")).isEqualTo("other");

        NameTag many = NameTag.before(':');
        for (int i = 0; i < 1_000; i++) {
            many.of("order" + i + ":1");
        }
        assertThat(many.of("order1000:1")).isEqualTo("other");
    }

    @Test
    void clientsOfOneStoreAreAddedUpAndTagsTellThemApart() throws InterruptedException {
        LockClient second = locks.anotherClient(builder -> builder.listener(metrics));
        metrics.bind(second);
        lock.acquire().detach();
        second.lock("b").acquire().detach();
        assertThat(gauge("holdfast.held")).isEqualTo(2);

        LockMetrics apart = LockMetrics.on(registry, NameTag.none(), Tag.of("client", "reports"));
        apart.bind(client);
        assertThat(registry.get("holdfast.held")
                        .tag("client", "reports")
                        .gauge()
                        .value())
                .isEqualTo(1);
        assertThat(count("holdfast.losses", "client", "reports", "cause", "leaked"))
                .as("there before it ever happens")
                .isZero();
    }

    @Test
    void aClientThatExistsAlreadyIsListenedToAndCountedOnce() throws InterruptedException {
        LockMetrics late = LockMetrics.on(registry, NameTag.none(), Tag.of("client", "late"));
        Hold before = lock.acquire();
        late.bind(client);
        late.bind(client);
        metrics.bind(client);
        locks.lose(before);
        assertThat(count("holdfast.losses", "client", "late", "cause", "session_ended"))
                .isEqualTo(1);
        lock.acquire().close();
        locks.events();
        assertThat(registry.get("holdfast.wait")
                        .tags("client", "late", "outcome", "acquired")
                        .timer()
                        .count())
                .isEqualTo(1);
        assertThat(waits("acquired").count())
                .as("by a listener from the beginning")
                .isEqualTo(2);
        lock.acquire().detach();
        assertThat(registry.get("holdfast.held").tag("client", "late").gauge().value())
                .isEqualTo(1);
    }

    @Test
    void ofAClosedClientOnlyWhatItHasCountedIsKept() {
        WeakReference<LockClient> closed = boundAndClosed();
        double counted = requests();
        assertThat(counted).isPositive();
        try (LockClient next = LockClient.connect("mem:")) {
            metrics.bind(next);
            assertThat(requests()).isEqualTo(counted);
            await().until(() -> {
                System.gc();
                return closed.get() == null;
            });
        }
    }

    private WeakReference<LockClient> boundAndClosed() {
        try (LockClient client = LockClient.connect("mem:")) {
            metrics.bind(client);
            assertThat(client.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
            return new WeakReference<>(client);
        }
    }

    private double requests() {
        return registry.get("holdfast.store.requests").functionTimer().count();
    }

    @Test
    void aClosedObjectLeavesNoMeters() throws InterruptedException {
        lock.acquire().close();
        assertThat(waits("acquired").count()).isEqualTo(1);
        metrics.close();
        assertThat(registry.getMeters()).isEmpty();
    }
}
