package dev.holdfast.etcd;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.DaemonThreads;
import dev.holdfast.spi.support.Pauses;
import dev.holdfast.spi.support.PlannedTask;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchResponse;
import io.grpc.Context;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of etcd, through jetcd. Each request is answered, or fails with one of Holdfast's exceptions, within a
 * limit; jetcd has none of its own, and a request that it sends late is still carried out. All reads are agreed to by a
 * majority. Thread-safe.
 */
final class Requests {
    private static final int TRIES = 3;
    private static final Duration PAUSE = Duration.ofSeconds(1);
    /** What a first request may take longer at least. */
    private static final Duration FIRST = Duration.ofSeconds(5);
    /** Twice to three times what was measured. */
    private static final int LOADING = 4;

    private final Client client;
    private final TimeSource time;
    private final Duration limit;
    private final Errors errors;
    private final Set<CompletableFuture<?>> underWay = ConcurrentHashMap.newKeySet();
    /** Why no more requests are sent; null while they are. */
    private volatile @Nullable HoldfastException end;

    Requests(Client client, TimeSource time, Duration limit, Errors errors) {
        this.client = client;
        this.time = time;
        this.limit = limit;
        this.errors = errors;
    }

    /**
     * To be called before a client is used: jetcd answers in the Vert.x context of the thread that asked first, and that of a
     * caller may be one that runs nothing while the caller waits.
     */
    static void makeStubs(Client client) {
        Thread apart = DaemonThreads.daemon("holdfast-etcd-stubs", () -> {
            try {
                Object unused = List.of(client.getKVClient(), client.getLeaseClient());
            } catch (RuntimeException failed) {
                // as the first request will
            }
        });
        apart.start();
        DaemonThreads.awaitEnd(apart);
    }

    /** How long a request may go without an answer. */
    Duration limit() {
        return limit;
    }

    /** Asked again of another member, should one stand still. */
    CompletableFuture<GetResponse> get(ByteSequence key, GetOption option) {
        return asked(within -> get(key, option, within), 1);
    }

    CompletableFuture<GetResponse> get(ByteSequence key, GetOption option, Duration within) {
        return limited(() -> client.getKVClient().get(key, option), within);
    }

    /** Several reads in one, which see one state; asked again likewise. */
    CompletableFuture<TxnResponse> read(List<? extends Op> reads) {
        return asked(within -> txn(List.of(), reads, List.of(), within), 1);
    }

    /**
     * Several reads in the first request of a client. The JVM may load gRPC for it: one part before the request is handed
     * over, which no limit counts, and another on the client's threads. Asked again if the servers answered that they could
     * not read, as when the leader changes; servers that say nothing have had their time.
     */
    CompletableFuture<TxnResponse> first(List<? extends Op> reads) {
        long begun = time.nanoTime();
        CompletableFuture<TxnResponse> answer = sent(() -> commit(List.of(), reads, List.of()));
        return limited(answer, FIRST.plus(withLoading(limit, time.nanoTime() - begun)))
                .exceptionallyCompose(failure -> isDown(failure) && why(failure).getCause() != null
                        ? read(reads)
                        : CompletableFuture.failedFuture(failure));
    }

    /**
     * The limit of a request from when it was handed over. How long the JVM loads the rest of gRPC is estimated by how long
     * the request took until there: by nothing, once all is loaded.
     */
    static Duration withLoading(Duration limit, long handedOver) {
        return limit.plusNanos(LOADING * handedOver);
    }

    private <T> CompletableFuture<T> asked(Function<Duration, CompletableFuture<T>> request, int number) {
        return request.apply(limit.dividedBy(TRIES))
                .exceptionallyCompose(failure -> isDown(failure) && number < TRIES
                        ? asked(request, number + 1)
                        : CompletableFuture.failedFuture(failure));
    }

    private boolean isDown(Throwable failure) {
        return why(failure) instanceof StoreUnavailableException;
    }

    CompletableFuture<TxnResponse> txn(List<Cmp> ifs, List<? extends Op> then, List<? extends Op> otherwise) {
        return txn(ifs, then, otherwise, limit);
    }

    CompletableFuture<TxnResponse> txn(
            List<Cmp> ifs, List<? extends Op> then, List<? extends Op> otherwise, Duration within) {
        return limited(() -> commit(ifs, then, otherwise), within);
    }

    private CompletableFuture<TxnResponse> commit(
            List<Cmp> ifs, List<? extends Op> then, List<? extends Op> otherwise) {
        Txn txn = client.getKVClient().txn();
        return (ifs.isEmpty() ? txn : txn.If(ifs.toArray(Cmp[]::new)))
                .Then(then.toArray(Op[]::new))
                        .Else(otherwise.toArray(Op[]::new))
                        .commit();
    }

    /** A lease of so many seconds. One that is granted too late to be used ends by itself. */
    CompletableFuture<LeaseGrantResponse> grantLease(long seconds) {
        return limited(() -> client.getLeaseClient().grant(seconds), limit);
    }

    /**
     * One keep-alive, in a stream of its own: jetcd's lasting stream does not say which of its keep-alives was answered,
     * nor when that one was sent.
     */
    CompletableFuture<LeaseKeepAliveResponse> keepAlive(long lease, Duration within) {
        Context.CancellableContext stream = Context.ROOT.withCancellation(); // not the caller's, which may end
        return limited(
                        () -> stream.wrap(() -> client.getLeaseClient().keepAliveOnce(lease))
                                .call(),
                        within)
                .whenComplete((answer, failure) -> stream.cancel(null)); // nothing else would end one without an answer
    }

    /** Ends a lease and removes its keys, also while the store closes. */
    CompletableFuture<?> revoke(long lease) {
        return sent(() -> client.getLeaseClient().revoke(lease));
    }

    /**
     * Watches for the end of a key from now on. A watch from an earlier revision would be told of changes only every 100 ms,
     * as long as it has something to catch up with.
     *
     * @param read the revision of the read after which this is asked
     * @param missed runs once if the store has changed since then
     * @param changed runs once, at the deletion or when the watch is broken: then it must read again what it is about
     * @return ends the watch; may be called more than once
     */
    Runnable watchDeletion(ByteSequence key, long read, Runnable missed, Runnable changed) {
        WatchOption option = WatchOption.builder()
                .withCreateNotify(true)
                .withNoPut(true)
                .withRequireLeader(true)
                .build();
        return watch(key, option, new OneShot(read, missed, changed));
    }

    private Runnable watch(ByteSequence key, WatchOption option, OneShot watch) {
        try {
            watch.started(client.getWatchClient().watch(key, option, watch));
        } catch (RuntimeException closed) {
            watch.onError(closed);
        }
        return watch::end;
    }

    /** Runs a task once, at the first change of a key that begins so, or when the watch is broken. */
    Runnable watchAll(ByteSequence prefix, long from, Runnable changed) {
        return watch(
                prefix,
                WatchOption.builder()
                        .isPrefix(true)
                        .withRevision(from)
                        .withRequireLeader(true)
                        .build(),
                new OneShot(Long.MAX_VALUE, () -> {}, changed));
    }

    /** Fails all requests, also those to come. */
    void endAll(HoldfastException why) {
        end = why;
        underWay.forEach(answer -> answer.completeExceptionally(why));
    }

    /** Runs a task after a pause. */
    void later(Runnable task) {
        PlannedTask.surely(time, task, Duration.ofNanos(Pauses.jittered(PAUSE.toNanos())));
    }

    boolean haveEnded() {
        return end != null;
    }

    /** A failure as one of Holdfast's. */
    HoldfastException why(Throwable failure) {
        return errors.of(failure);
    }

    HoldfastException notSent() {
        return errors.noAnswer();
    }

    HoldfastException leaderChanged() {
        return errors.leaderChanged();
    }

    /** An answer that fails if it does not come within the limit. */
    <T> CompletableFuture<T> limited(CompletableFuture<T> answer) {
        return limited(answer, limit);
    }

    private <T> CompletableFuture<T> limited(Callable<CompletableFuture<T>> request, Duration within) {
        CompletableFuture<T> answer = limited(new CompletableFuture<>(), within);
        if (!answer.isDone()) {
            sent(request).whenComplete((value, failure) -> {
                if (failure == null) {
                    answer.complete(value);
                } else {
                    answer.completeExceptionally(errors.of(failure));
                }
            });
        }
        return answer;
    }

    private <T> CompletableFuture<T> limited(CompletableFuture<T> answer, Duration within) {
        underWay.add(answer);
        answer.whenComplete((value, failure) -> underWay.remove(answer));
        HoldfastException ended = end;
        if (ended != null) {
            answer.completeExceptionally(ended);
            return answer;
        }
        try {
            TimeSource.Scheduled late = time.schedule(() -> answer.completeExceptionally(errors.noAnswer()), within);
            answer.whenComplete((value, failure) -> late.cancel());
        } catch (Throwable noThread) { // an answer that nothing limits might never come
            answer.completeExceptionally(errors.of(noThread));
        }
        return answer;
    }

    private static <T> CompletableFuture<T> sent(Callable<CompletableFuture<T>> request) {
        try {
            return request.call();
        } catch (Throwable failed) { // such as a client that its owner has closed
            return CompletableFuture.failedFuture(failed);
        }
    }

    /** jetcd reports errors under a lock of its own, so that what follows is left to another thread. */
    private final class OneShot implements Watch.Listener {
        private final long read;
        private final Runnable missed;
        private final Runnable changed;
        private final AtomicBoolean fired = new AtomicBoolean();
        private final AtomicReference<Watch.@Nullable Watcher> watcher = new AtomicReference<>();

        OneShot(long read, Runnable missed, Runnable changed) {
            this.read = read;
            this.missed = missed;
            this.changed = changed;
        }

        void started(Watch.Watcher started) {
            watcher.set(started);
            if (fired.get()) {
                started.close();
            }
        }

        void end() {
            fired.set(true);
            Watch.Watcher started = watcher.get();
            if (started != null) {
                started.close();
            }
        }

        @Override
        public void onNext(WatchResponse response) {
            if (response.isCreatedNotify() && response.getHeader().getRevision() > read && !fired.get()) {
                missed.run();
            }
            if (!response.getEvents().isEmpty() && fired.compareAndSet(false, true)) {
                end();
                changed.run();
            }
        }

        @Override
        public void onError(Throwable broken) {
            if (fired.compareAndSet(false, true)) {
                time.schedule(
                        () -> {
                            end();
                            changed.run();
                        },
                        Duration.ofNanos(Pauses.beforeRetry(1)));
            }
        }

        @Override
        public void onCompleted() {
            onError(new IllegalStateException("the watch has ended"));
        }
    }
}
