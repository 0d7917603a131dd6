package dev.holdfast.bench.trial;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.options.GetOption;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** One client of one library on some members of an etcd, and one lock; for one thread, but for what it believes. */
interface EtcdRival extends AutoCloseable {
    /** How long a lease is. */
    Duration LEASE = Duration.ofSeconds(3);

    /** The libraries. */
    enum Library {
        HOLDFAST,
        JETCD;

        EtcdRival connect(String endpoints, String lock) throws Exception {
            return this == HOLDFAST ? new WithHoldfast(endpoints, lock) : new WithJetcd(endpoints, lock);
        }
    }

    /** Asks for the lock, and again where that fails. */
    CompletableFuture<?> acquire();

    /** How often that failed. */
    default int failures() {
        return 0;
    }

    /** How many claims of the lock the servers have. */
    long claims();

    /** Whether it holds the lock, by each way to tell that the library leaves to its caller. */
    Map<String, BooleanSupplier> beliefs();

    /** Gives it back, if it still has it. */
    void release();

    @Override
    void close();

    /** A hold knows itself whether it is valid. */
    final class WithHoldfast implements EtcdRival {
        private final LockClient client;
        private final String lock;
        private volatile @Nullable Hold hold;

        WithHoldfast(String endpoints, String lock) {
            this.client = LockClient.connect("etcd://" + endpoints);
            this.lock = lock;
        }

        @Override
        public CompletableFuture<?> acquire() {
            return client.lock(lock, HoldOptions.defaults().lease(LEASE))
                    .acquireAsync()
                    .toCompletableFuture()
                    .thenAccept(granted -> hold = granted);
        }

        @Override
        public long claims() {
            var status = client.lock(lock).status();
            return status.waiting() + (status.isHeld() ? 1L : 0);
        }

        @Override
        public Map<String, BooleanSupplier> beliefs() {
            return Map.of("Holdfast, `isValid()`", () -> {
                Hold mine = hold;
                return mine != null && mine.isValid();
            });
        }

        @Override
        public void release() {
            Hold mine = hold;
            if (mine != null && mine.isValid()) {
                mine.close();
            }
        }

        @Override
        public void close() {
            client.close();
        }
    }

    /** Only the lease says something: its listener, and the answers to its keep-alives. */
    final class WithJetcd implements EtcdRival, StreamObserver<LeaseKeepAliveResponse> {
        private final Client client;
        private final ByteSequence name;
        private final long lease;
        private volatile long answered;
        private final AtomicInteger failures = new AtomicInteger();
        private volatile boolean granted;
        private volatile boolean told;
        private volatile @Nullable ByteSequence key;

        WithJetcd(String endpoints, String lock) throws Exception {
            this.client = Client.builder()
                    .endpoints(("http://" + endpoints.replace(",", ",http://")).split(","))
                    .build();
            this.name = ByteSequence.from("jetcd/" + lock, UTF_8);
            this.lease = client.getLeaseClient().grant(LEASE.toSeconds()).get().getID();
            this.answered = System.nanoTime();
            Object unused = client.getLeaseClient().keepAlive(lease, this);
        }

        @Override
        public CompletableFuture<?> acquire() {
            return client.getLockClient()
                    .lock(name, lease)
                    .thenAccept(answer -> {
                        key = answer.getKey();
                        granted = true;
                    })
                    .exceptionallyCompose(failed -> {
                        int unused = failures.incrementAndGet();
                        return CompletableFuture.supplyAsync(
                                        () -> null, CompletableFuture.delayedExecutor(20, MILLISECONDS))
                                .thenCompose(later -> acquire())
                                .thenAccept(done -> {});
                    });
        }

        @Override
        public int failures() {
            return failures.get();
        }

        @Override
        public long claims() {
            return client.getKVClient()
                    .get(name, GetOption.builder().isPrefix(true).build())
                    .join()
                    .getCount();
        }

        @Override
        public Map<String, BooleanSupplier> beliefs() {
            return Map.of(
                    "jetcd, until its listener hears that the lease is over",
                    () -> granted && !told,
                    "jetcd, until a lease after the last answered keep-alive",
                    () -> granted && System.nanoTime() - answered < LEASE.toNanos());
        }

        @Override
        public void release() {
            ByteSequence mine = key;
            if (granted && mine != null) {
                granted = false;
                Object unused = client.getLockClient().unlock(mine);
            }
        }

        @Override
        public void onNext(LeaseKeepAliveResponse answer) {
            answered = System.nanoTime();
        }

        @Override
        public void onError(Throwable over) {
            told = true;
        }

        @Override
        public void onCompleted() {
            told = true;
        }

        @Override
        public void close() {
            client.close();
        }
    }
}
