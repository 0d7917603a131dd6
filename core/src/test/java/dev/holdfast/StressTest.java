package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Everything at once, on a line that loses requests and replies: nobody overlaps, tokens rise, nothing stays behind. */
@Timeout(120)
class StressTest {
    private static final int THREADS = 12;
    private static final int STEPS = 400;
    private static final HoldOptions SHORT = HoldOptions.defaults().lease(Duration.ofMillis(400));

    private final MemoryStore memory = new MemoryStore();
    private final AtomicReference<Hold> holder = new AtomicReference<>();
    private final AtomicLong lastToken = new AtomicLong();
    private final AtomicInteger overlaps = new AtomicInteger();
    private final AtomicInteger fallen = new AtomicInteger();
    private final AtomicInteger held = new AtomicInteger();

    @Test
    @Tag("both-jdks")
    void mixedCallersOnAGoodLine() throws Exception {
        run(0);
    }

    @Test
    void mixedCallersOnABadLine() throws Exception {
        run(20);
    }

    private void run(int faultsPerThousand) throws Exception {
        List<UnreliableStore> lines = new ArrayList<>();
        List<LockClient> clients = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            UnreliableStore line = new UnreliableStore(memory.open());
            lines.add(line);
            clients.add(LockClient.builder(line).build());
        }
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        List<Future<?>> done = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            LockClient client = clients.get(t % 3);
            UnreliableStore line = lines.get(t % 3);
            done.add(pool.submit(() -> work(client, line, faultsPerThousand)));
        }
        for (Future<?> each : done) {
            each.get(60, TimeUnit.SECONDS);
        }
        lines.forEach(StressTest::mend);
        pool.shutdown();
        assertThat(overlaps).as("overlaps of valid holds").hasValue(0);
        assertThat(fallen).as("tokens that fell").hasValue(0);
        assertThat(held).hasPositiveValue();
        int lost = lines.stream().mapToInt(line -> line.lost.get()).sum();
        assertThat(lost > 0).as("the line lost %d requests and replies", lost).isEqualTo(faultsPerThousand > 0);
        await().untilAsserted(
                        () -> assertThat(clients.get(0).lock("a").status()).isEqualTo(LockStatus.free("a", 0)));
        clients.forEach(LockClient::close);
    }

    private void work(LockClient client, UnreliableStore line, int faultsPerThousand) {
        Random random = ThreadLocalRandom.current();
        for (int i = 0; i < STEPS; i++) {
            if (random.nextInt(1000) < faultsPerThousand) {
                disturb(line, random);
            } else {
                mend(line);
            }
            try {
                step(client, random);
            } catch (HoldfastException | InterruptedException | IllegalMonitorStateException expected) {
                // a bad line fails calls and loses holds; what counts is what is left behind
            }
        }
    }

    private void step(LockClient client, Random random) throws InterruptedException {
        DistributedLock lock = client.lock("a", random.nextBoolean() ? SHORT : SHORT.autoRenew(false));
        switch (random.nextInt(6)) {
            case 0 -> use(lock.tryAcquire());
            case 1 -> use(lock.tryAcquire(Duration.ofNanos(random.nextInt(2_000_000))));
            case 2 -> use(Optional.of(client.lock("a", SHORT.strictFifo(true)).acquire()));
            case 3 -> interrupted(lock, random);
            case 4 -> cancelled(lock, random);
            default -> reentrant(lock.asLock());
        }
    }

    private void use(Optional<Hold> maybe) {
        if (maybe.isEmpty()) {
            return;
        }
        try (Hold hold = maybe.get()) {
            if (!hold.isValid()) {
                return;
            }
            held.incrementAndGet();
            if (lastToken.getAndAccumulate(hold.token(), Math::max) >= hold.token() && hold.isValid()) {
                fallen.incrementAndGet();
            }
            Hold other = holder.getAndSet(hold);
            // Ours was valid before; if it is after the other still was, then both were at once.
            if (other != null && other.isValid() && hold.isValid()) {
                overlaps.incrementAndGet();
            }
            linger();
            holder.compareAndSet(hold, null);
        }
    }

    /** Mostly long enough that others come to run, and now and then longer than the lease, which another may then get. */
    private static void linger() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long micros = random.nextInt(1_000) == 0 ? 450_000 : random.nextInt(100);
        long end = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(micros);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private void interrupted(DistributedLock lock, Random random) throws InterruptedException {
        if (random.nextBoolean()) {
            Thread.currentThread().interrupt();
        }
        try {
            use(lock.tryAcquire(Duration.ofMillis(5)));
        } finally {
            Thread.interrupted();
        }
    }

    private void cancelled(DistributedLock lock, Random random) {
        CompletableFuture<Hold> future = lock.acquireAsync();
        boolean cancelled = random.nextBoolean() && future.cancel(true);
        if (!cancelled) {
            use(Optional.of(joined(future)));
        }
    }

    private static Hold joined(CompletableFuture<Hold> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            throw (HoldfastException) e.getCause();
        }
    }

    private static void reentrant(Lock lock) {
        lock.lock();
        try {
            lock.lock();
            lock.unlock();
        } finally {
            lock.unlock();
        }
    }

    private static void disturb(UnreliableStore line, Random random) {
        UnreliableStore.Line[] faults = UnreliableStore.Line.values();
        line.claims = faults[random.nextInt(faults.length)];
        line.renewals = faults[random.nextInt(faults.length)];
        line.releases = faults[random.nextInt(faults.length)];
        line.extensions = faults[random.nextInt(faults.length)];
    }

    private static void mend(UnreliableStore line) {
        line.claims = UnreliableStore.Line.UP;
        line.renewals = UnreliableStore.Line.UP;
        line.releases = UnreliableStore.Line.UP;
        line.extensions = UnreliableStore.Line.UP;
    }
}
