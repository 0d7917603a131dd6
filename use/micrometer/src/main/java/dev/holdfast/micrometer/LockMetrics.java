package dev.holdfast.micrometer;

import dev.holdfast.ClientClosedException;
import dev.holdfast.ClientStatistics;
import dev.holdfast.DistributedLock;
import dev.holdfast.LockClient;
import dev.holdfast.LockEvent;
import dev.holdfast.LockListener;
import dev.holdfast.Loss;
import dev.holdfast.StoreEvent;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;

/**
 * Meters of what the locks of clients do. It is a listener of the clients, for what happens to each lock, and reads their
 * figures, for what is so now:
 *
 * <pre>{@code
 * LockMetrics metrics = LockMetrics.on(registry, NameTag.before(':'));
 * LockClient client = LockClient.builder("redis://127.0.0.1:6379").listener(metrics).build();
 * metrics.bind(client);
 * }</pre>
 *
 * <pre>
 *   holdfast.wait              timer    lock, outcome   from the call to the hold, or to its end without
 *   holdfast.hold              timer    lock            from the grant to the close
 *   holdfast.losses            counter  lock, cause     holds that ended otherwise than by their close
 *   holdfast.renewals          counter  lock, outcome   leases moved, and renewals without an answer
 *   holdfast.releases.failed   counter  lock            releases that the store did not confirm
 *   holdfast.suspects          counter  lock            how often a hold came to be in doubt
 *   holdfast.leaks             counter  lock            holds never closed that nobody could close any more
 *   holdfast.held              gauge                    open holds
 *   holdfast.waiting           gauge                    callers that wait
 *   holdfast.store.reachable   gauge                    1, or 0 while the store does not answer
 *   holdfast.store.outages     timer                    outages that have ended
 *   holdfast.store.requests    timer                    requests to the store, and the time of their answers
 *   holdfast.store.failures    counter                  of these, those that failed
 *   holdfast.events.dropped    counter                  events that did not reach listeners: meters above are too low
 * </pre>
 *
 * <p>Each has the tag {@code store}. One object serves any number of clients of a registry: clients of one store are added
 * up. To tell them apart, give each an object of its own with a tag of its own. Events are counted on the listener thread
 * of the client, never on a caller's. Thread-safe.
 */
public final class LockMetrics implements LockListener, AutoCloseable {
    /** Buckets enough for quantiles of waits and holds, and few enough for a tag with a hundred values. */
    private static final Duration[] BUCKETS = {
        Duration.ofMillis(1),
        Duration.ofMillis(5),
        Duration.ofMillis(25),
        Duration.ofMillis(100),
        Duration.ofMillis(500),
        Duration.ofMillis(2500),
        Duration.ofSeconds(10),
        Duration.ofSeconds(60)
    };

    // figures that only grow
    private static final ToLongFunction<ClientStatistics> REQUESTS = ClientStatistics::storeCalls;
    private static final ToLongFunction<ClientStatistics> REQUEST_NANOS = ClientStatistics::storeNanos;
    private static final ToLongFunction<ClientStatistics> FAILURES = ClientStatistics::failedStoreCalls;
    private static final ToLongFunction<ClientStatistics> DROPPED_EVENTS = ClientStatistics::droppedEvents;
    private static final List<ToLongFunction<ClientStatistics>> COUNTS =
            List.of(REQUESTS, REQUEST_NANOS, FAILURES, DROPPED_EVENTS);

    private final MeterRegistry registry;
    private final NameTag names;
    private final Tags tags;
    private final Map<String, Bound> stores = new ConcurrentHashMap<>();
    private final Set<Meter> meters = ConcurrentHashMap.newKeySet();

    /** The clients of one store; of those that are closed, what they have counted. */
    private static final class Bound {
        private final ReentrantLock mutex = new ReentrantLock();
        private final Set<LockClient> clients = new HashSet<>();
        private final Map<ToLongFunction<ClientStatistics>, Long> ofClosed = new HashMap<>();

        void add(LockClient client) {
            mutex.lock();
            try {
                if (!isClosed(client)) {
                    clients.add(client);
                }
                for (LockClient closed :
                        clients.stream().filter(Bound::isClosed).toList()) {
                    clients.remove(closed);
                    ClientStatistics last = closed.statistics();
                    COUNTS.forEach(figure -> ofClosed.merge(figure, figure.applyAsLong(last), Long::sum));
                }
            } finally {
                mutex.unlock();
            }
        }

        private static boolean isClosed(LockClient client) {
            try {
                DistributedLock unused = client.lock("a"); // sends no request
                return false;
            } catch (ClientClosedException closed) {
                return true;
            }
        }

        long sum(ToLongFunction<ClientStatistics> figure) {
            mutex.lock();
            try {
                return ofClosed.getOrDefault(figure, 0L)
                        + clients.stream()
                                .mapToLong(client -> figure.applyAsLong(client.statistics()))
                                .sum();
            } finally {
                mutex.unlock();
            }
        }

        /** As the clients know it now: events of an outage come late, or not at all. */
        boolean isReachable() {
            mutex.lock();
            try {
                return clients.stream().allMatch(client -> client.statistics().storeReachable());
            } finally {
                mutex.unlock();
            }
        }
    }

    private LockMetrics(MeterRegistry registry, NameTag names, Tags tags) {
        this.registry = registry;
        this.names = names;
        this.tags = tags;
    }

    /** Meters that do not tell names apart. */
    public static LockMetrics on(MeterRegistry registry) {
        return on(registry, NameTag.none());
    }

    /**
     * Meters with tags.
     *
     * @param names what the tag {@code lock} says
     * @param tags further tags of every meter
     */
    public static LockMetrics on(MeterRegistry registry, NameTag names, Tag... tags) {
        return new LockMetrics(registry, names, Tags.of(tags));
    }

    /**
     * Adds the figures of a client, and listens to it if it does not yet. Needed for the gauges and for the requests to the
     * store. A client that has this among its listeners from the beginning misses no event. Binding twice does nothing. A
     * closed client is no longer kept when another one of its store is bound; the sums keep what it has counted.
     */
    public void bind(LockClient client) {
        client.addListener(this);
        Bound bound = stores.computeIfAbsent(client.store(), absent -> new Bound());
        bound.add(client);
        Tags of = tags.and("store", client.store());
        gauge("holdfast.held", "Open holds", of, bound, ClientStatistics::heldNow);
        gauge("holdfast.waiting", "Callers that wait for a lock", of, bound, ClientStatistics::waitingNow);
        keep(Gauge.builder("holdfast.store.reachable", bound, each -> each.isReachable() ? 1 : 0)
                .description("1, or 0 while the store does not answer a client")
                .tags(of)
                .strongReference(true)
                .register(registry));
        keep(FunctionTimer.builder(
                        "holdfast.store.requests",
                        bound,
                        each -> each.sum(REQUESTS),
                        each -> each.sum(REQUEST_NANOS),
                        TimeUnit.NANOSECONDS)
                .description("Requests to the store and the time of their answers, without that of claims that wait")
                .tags(of)
                .register(registry));
        count("holdfast.store.failures", "Requests that the store failed", of, bound, FAILURES);
        count(
                "holdfast.events.dropped",
                "Events that did not reach listeners, which were too slow",
                of,
                bound,
                DROPPED_EVENTS);
        if (names.isNone()) {
            beginAtZero(client.store());
        }
    }

    /** What seldom happens is there from the beginning: a series that begins with its first event hides that event. */
    private void beginAtZero(String store) {
        for (Loss.Cause cause : Loss.Cause.values()) {
            losses("", store, cause);
        }
        renewals("", store, "moved");
        renewals("", store, "unanswered");
        failedReleases("", store);
        leaks("", store);
    }

    private void gauge(String name, String description, Tags of, Bound bound, ToLongFunction<ClientStatistics> figure) {
        keep(Gauge.builder(name, bound, each -> each.sum(figure))
                .description(description)
                .tags(of)
                .strongReference(true)
                .register(registry));
    }

    private void count(String name, String description, Tags of, Bound bound, ToLongFunction<ClientStatistics> figure) {
        keep(FunctionCounter.builder(name, bound, each -> each.sum(figure))
                .description(description)
                .tags(of)
                .register(registry));
    }

    private <M extends Meter> M keep(M meter) {
        meters.add(meter);
        return meter;
    }

    // ---- what the listener hears ----

    @Override
    public void onAcquired(LockEvent.Acquired event) {
        waited(event.name(), event.store(), event.handedOver() ? "handed_over" : "acquired", event.waited());
    }

    @Override
    public void onNotAcquired(LockEvent.NotAcquired event) {
        waited(event.name(), event.store(), text(event.reason()), event.waited());
    }

    private void waited(String name, String store, String outcome, Duration waited) {
        keep(timer("holdfast.wait", "From the call to the hold, or to its end without")
                        .tags(of(name, store).and("outcome", outcome))
                        .register(registry))
                .record(waited);
    }

    @Override
    public void onReleased(LockEvent.Released event) {
        keep(timer("holdfast.hold", "From the grant to the close")
                        .tags(of(event.name(), event.store()))
                        .register(registry))
                .record(event.held());
    }

    @Override
    public void onLost(Loss loss) {
        losses(loss.name(), loss.store(), loss.cause()).increment();
    }

    @Override
    public void onRenewed(LockEvent.Renewed event) {
        renewals(event.name(), event.store(), "moved").increment();
    }

    @Override
    public void onRenewalFailed(LockEvent.RenewalFailed event) {
        renewals(event.name(), event.store(), "unanswered").increment();
    }

    @Override
    public void onSuspect(LockEvent.Suspect event) {
        counter("holdfast.suspects", "How often a hold came to be in doubt", event.name(), event.store())
                .increment();
    }

    @Override
    public void onLeaked(LockEvent.Leaked event) {
        leaks(event.name(), event.store()).increment();
    }

    @Override
    public void onReleaseFailed(LockEvent.ReleaseFailed event) {
        failedReleases(event.name(), event.store()).increment();
    }

    @Override
    public void onStoreReachable(StoreEvent.Reachable event) {
        keep(Timer.builder("holdfast.store.outages")
                        .description("Outages that have ended")
                        .tags(tags.and("store", event.store()))
                        .register(registry))
                .record(event.after());
    }

    private static Timer.Builder timer(String name, String description) {
        return Timer.builder(name).description(description).serviceLevelObjectives(BUCKETS);
    }

    private Counter losses(String name, String store, Loss.Cause cause) {
        return keep(Counter.builder("holdfast.losses")
                .description("Holds that ended otherwise than by their close")
                .tags(of(name, store).and("cause", text(cause)))
                .register(registry));
    }

    private Counter renewals(String name, String store, String outcome) {
        return keep(Counter.builder("holdfast.renewals")
                .description("Leases moved, and renewals without an answer")
                .tags(of(name, store).and("outcome", outcome))
                .register(registry));
    }

    private Counter failedReleases(String name, String store) {
        return counter("holdfast.releases.failed", "Releases that the store did not confirm", name, store);
    }

    private Counter leaks(String name, String store) {
        return counter("holdfast.leaks", "Holds never closed that nobody could close any more", name, store);
    }

    private Counter counter(String meter, String description, String name, String store) {
        return keep(Counter.builder(meter)
                .description(description)
                .tags(of(name, store))
                .register(registry));
    }

    private Tags of(String name, String store) {
        return tags.and("store", store).and("lock", names.of(name));
    }

    private static String text(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    /** Takes the meters out of the registry. Events that come after that make new ones. */
    @Override
    public void close() {
        meters.forEach(registry::remove);
        meters.clear();
        stores.clear();
    }
}
