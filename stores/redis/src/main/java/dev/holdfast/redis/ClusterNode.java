package dev.holdfast.redis;

import dev.holdfast.StoreRefusedException;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One master of a cluster. It is connected when it is first needed, and until then its calls wait. Once retired, it
 * returns all calls to the cluster. Thread-safe.
 */
final class ClusterNode implements ScriptSender.KeyPages, PipelineEvents {
    private static final Duration AGAIN = Duration.ofMillis(50);

    private final ClusterSender cluster;
    private final NodeAddress address;
    private final RedisErrors errors;
    private final Outbox waiting = new Outbox();
    private final AtomicInteger forwardRequests = new AtomicInteger();
    private final AtomicBoolean connecting = new AtomicBoolean();
    private volatile List<ScriptPipeline> pipelines = List.of();
    private volatile @Nullable ScriptSender sender;
    private volatile boolean retired;

    ClusterNode(ClusterSender cluster, NodeAddress address) {
        this.cluster = cluster;
        this.address = address;
        this.errors = cluster.errorsOf(address);
    }

    NodeAddress address() {
        return address;
    }

    void send(ScriptCall call) {
        waiting.add(call);
        forward();
        if (isDown()) {
            cluster.refreshSoon();
        }
    }

    /** In order: a claim must not overtake the release before it. */
    private void forward() {
        if (forwardRequests.getAndIncrement() != 0) {
            return; // another thread does it, and goes on
        }
        try {
            int seen = 1;
            do {
                forwardAll();
                seen = forwardRequests.addAndGet(-seen);
            } while (seen != 0);
        } catch (Throwable broken) { // such as of memory
            forwardRequests.set(0); // first: the next call is forwarded
            waiting.fail(call -> true, errors.of(broken));
        }
    }

    private void forwardAll() {
        ScriptSender to = sender;
        if (retired) {
            waiting.moveTo(cluster::send, errors);
        } else if (to != null) {
            waiting.moveTo(to::send, errors);
        } else {
            connect();
        }
    }

    void connect() {
        if (!connecting.compareAndSet(false, true)) {
            return;
        }
        try {
            CompletionStage<StatefulRedisConnection<byte[], byte[]>> first = cluster.connectTo(address);
            CompletionStage<List<StatefulRedisConnection<byte[], byte[]>>> both =
                    cluster.acks().areWanted()
                            ? first.thenCompose(made -> cluster.connectTo(address)
                                    .whenComplete((more, failure) -> closeIf(failure, made))
                                    .thenApply(more -> List.of(made, more)))
                            : first.thenApply(made -> List.of(made));
            both.whenComplete((made, failure) -> {
                if (failure == null) {
                    connected(made);
                } else {
                    notConnected(RedisErrors.unwrapped(failure));
                }
            });
        } catch (Throwable e) { // the client was shut down, or an Error, such as of memory
            notConnected(e);
        }
    }

    private static void closeIf(@Nullable Throwable failure, StatefulRedisConnection<byte[], byte[]> made) {
        if (failure != null) {
            made.closeAsync();
        }
    }

    private void connected(List<StatefulRedisConnection<byte[], byte[]>> made) {
        try {
            List<ScriptPipeline> all = new ArrayList<>();
            for (StatefulRedisConnection<byte[], byte[]> connection : made) {
                ScriptPipeline pipeline = cluster.pipeline(connection, all.isEmpty(), address);
                pipeline.tell(this);
                pipeline.moveToThisLoop();
                all.add(pipeline);
            }
            ServerCheck.loadScripts(made.get(0));
            ScriptSender to = all.size() == 1 ? all.get(0) : new AckedSender(all.get(0), all.get(1));
            pipelines = List.copyOf(all);
            sender = to;
        } catch (Throwable broken) { // such as of memory
            made.forEach(StatefulRedisConnection::closeAsync);
            notConnected(broken);
            return;
        }
        if (retired) {
            pipelines.forEach(ScriptPipeline::retire);
        } else if (cluster.isClosed()) {
            pipelines.forEach(pipeline -> pipeline.connection().closeAsync());
        }
        forward();
    }

    private void notConnected(Throwable failure) {
        boolean goesOn = cluster.schedule(this::connectAgain, AGAIN); // first, whatever fails below
        if (!goesOn) {
            connecting.set(false); // the next call connects
        }
        RuntimeException why = errors.ofConnecting(failure, cluster.isTls());
        boolean ends = !goesOn || why instanceof StoreRefusedException;
        waiting.fail(call -> ends || cluster.isLate(call), why);
        cluster.refreshSoon();
    }

    private void connectAgain() {
        connecting.set(false);
        waiting.moveTo(cluster::send, errors); // here again, unless the cluster has changed
    }

    /** Whether it was connected, and is not now. */
    boolean isDown() {
        return !pipelines.isEmpty() && !isConnected();
    }

    boolean isConnected() {
        List<ScriptPipeline> all = pipelines;
        return !all.isEmpty() && all.stream().allMatch(ScriptPipeline::isConnected);
    }

    /** Whether calls wait for a connection. */
    boolean isStuck() {
        return !waiting.isEmpty() || pipelines.stream().anyMatch(ScriptPipeline::isStuck);
    }

    /** The connection to ask the node itself; null while there is none. */
    @Nullable
    StatefulRedisConnection<byte[], byte[]> connection() {
        List<ScriptPipeline> all = pipelines;
        return isConnected() ? all.get(all.size() - 1).connection() : null;
    }

    /** It no longer keeps locks, or cannot be reached while other nodes have taken over some of its locks. */
    void retire() {
        retired = true;
        pipelines.forEach(ScriptPipeline::retire);
        forward();
    }

    void beforeSending(String lock, Runnable task) {
        ScriptSender to = sender;
        if (to == null) {
            task.run();
        } else {
            to.beforeSending(lock, task);
        }
    }

    void close(RuntimeException why) {
        waiting.fail(call -> true, why);
        pipelines.forEach(pipeline -> pipeline.close(why));
    }

    void close() {
        pipelines.forEach(ScriptPipeline::close);
    }

    // ---- its keys ----

    @Override
    public CompletableFuture<KeyScanCursor<byte[]>> scan(ScanCursor from, ScanArgs args) {
        CompletableFuture<KeyScanCursor<byte[]>> page = new CompletableFuture<>();
        scan(from, args, page, cluster.deadlineFromNow());
        return page;
    }

    private void scan(ScanCursor from, ScanArgs args, CompletableFuture<KeyScanCursor<byte[]>> page, long until) {
        List<ScriptPipeline> all = pipelines;
        if (!all.isEmpty()) {
            all.get(all.size() - 1).scan(from, args).whenComplete((keys, failure) -> {
                if (failure == null) {
                    page.complete(keys);
                } else {
                    page.completeExceptionally(RedisErrors.unwrapped(failure));
                }
            });
        } else if (cluster.isPast(until)) {
            page.completeExceptionally(cluster.late(address));
        } else {
            connect();
            if (!cluster.schedule(() -> scan(from, args, page, until), AGAIN)) {
                page.completeExceptionally(cluster.late(address));
            }
        }
    }

    // ---- what its connections report ----

    @Override
    public void connected() {
        cluster.connected(address);
    }

    @Override
    public void disconnected() {
        cluster.refreshSoon();
    }

    @Override
    public void becameReplica() {
        cluster.refreshSoon();
    }

    @Override
    public void shutDown(RuntimeException why) {
        cluster.shutDown(why);
    }

    @Override
    public boolean redirected(ScriptCall call, String answer) {
        cluster.redirected(call, answer, address);
        return true;
    }

    @Override
    public void unsent(ScriptCall call) {
        cluster.send(call);
    }
}
