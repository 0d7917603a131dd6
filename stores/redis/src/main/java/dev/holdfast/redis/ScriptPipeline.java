package dev.holdfast.redis;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.TimeSource;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.util.internal.ThreadExecutorMap;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one connection on which all scripts are called, in the order they were asked for.
 *
 * <pre>
 *   any thread ── call ──► outbox ──► event loop: drain ──► one write of all that came together ──► server
 *                                        │ a release and the claim of the same lock behind it: one script
 *   engine ◄── answer, on the event loop ◄──────────────────────────────────────────────────────────┘
 * </pre>
 *
 * <p>Nobody writes to the socket but the connection's own thread, which takes all calls that came meanwhile and sends them
 * in one packet. That costs no thread change (a call from outside must come to that thread anyway) and lets a release,
 * which nobody waits for, travel with the claim that follows it.
 *
 * <p>When the connection breaks, Lettuce connects again and repeats what was not answered; a call it fails instead, as it
 * does with the one whose answer was being awaited, is sent again from here. Until it is connected again, calls stay in
 * the outbox, and those that were given up are forgotten: Lettuce would keep each of them. Claims and releases may be
 * repeated: they are told apart by their ids. Renewals are not: the first may be carried out after the second, and bring
 * an older and shorter lease back; what was under way has failed, and the engine asks anew. A call that was given up is
 * not repeated either: its command is cancelled. What still arrives late was sent before its withdrawal on the same
 * connection, or is refused because it was withdrawn, or is ended by its lease.
 *
 * <p>A server that is connected but silent is found by the calls that get no answer in time; after that long a silence the
 * connection is made anew; and so it is when the server has become a replica, since its name may lead to the new master by
 * now. When the Lettuce client was shut down by its owner, every call is refused. Thread-safe.
 */
final class ScriptPipeline implements AutoCloseable {
    private static final Duration AGAIN = Duration.ofMillis(20);
    /** How often a connection to a replica is made anew: all who wait ask as soon as it stands. */
    private static final Duration BETWEEN_REPLICAS = Duration.ofSeconds(1);

    private final StatefulRedisConnection<byte[], byte[]> connection;
    private final TimeSource time;
    private final Duration patience;
    private final RedisErrors errors;
    private final Outbox outbox = new Outbox();
    private final Queue<ScriptCall> inFlight = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean draining = new AtomicBoolean();
    private final AtomicBoolean watching = new AtomicBoolean();
    private volatile Executor loop;
    private volatile boolean connected = true;
    private volatile long lastAnswer;
    /** How many connections there were before this one; changed on its event loop. */
    private volatile int earlier;

    private volatile Consumer<RuntimeException> whenShutDown = why -> {};
    private volatile Runnable whenReplica = () -> {};
    private volatile long leftReplica;
    private volatile @Nullable RuntimeException closed;

    ScriptPipeline(
            StatefulRedisConnection<byte[], byte[]> connection,
            TimeSource time,
            Duration patience,
            RedisErrors errors) {
        this.connection = connection;
        this.time = time;
        this.patience = patience;
        this.errors = errors;
        this.loop = connection.getResources().eventExecutorGroup();
        this.lastAnswer = time.nanoTime();
        this.leftReplica = lastAnswer - BETWEEN_REPLICAS.toNanos();
        connection.addListener(new RedisConnectionStateListener() {
            @Override
            @SuppressWarnings("NonAtomicVolatileUpdate") // one connection at a time
            public void onRedisConnected(RedisChannelHandler<?, ?> reconnected, SocketAddress address) {
                earlier++;
                // the greeting counts as an answer: requests from before were not sent on this connection
                lastAnswer = time.nanoTime();
                moveToThisLoop();
                connected = true;
                drainSoon(); // after what Lettuce repeats now
            }

            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> broken) {
                connected = false;
                if (isShutDown()) {
                    RuntimeException why = shutDown();
                    close(why);
                    whenShutDown.accept(why);
                } else {
                    failRenewals(); // before Lettuce connects again and sends them again
                }
            }
        });
    }

    /** Names who is told when the Lettuce client was shut down, and with it the timer by which anybody would notice. */
    void whenShutDown(Consumer<RuntimeException> told) {
        whenShutDown = told;
    }

    /** Names what else has to connect anew when the server has become a replica. */
    void whenReplica(Runnable told) {
        whenReplica = told;
    }

    /** Called on the connection's event loop, which from now on does the sending. */
    void moveToThisLoop() {
        Executor current = ThreadExecutorMap.currentExecutor();
        if (current != null) {
            loop = current;
        }
    }

    /** Sends a call soon; its answer comes on the event loop. */
    void send(ScriptCall call) {
        call.asked(time.nanoTime());
        outbox.add(call);
        if (isShutDown()) {
            failOutbox(shutDown());
        } else if (connected) {
            drainSoon();
        } else {
            watch();
        }
        RuntimeException end = closed;
        if (end != null) {
            failOutbox(end);
        }
    }

    private void drainSoon() {
        if (draining.compareAndSet(false, true)) {
            try {
                loop.execute(this::drain);
            } catch (RejectedExecutionException ended) {
                draining.set(false);
                failOutbox(shutDown());
            }
        }
    }

    /** One page of the keys, within the time that any call is given. */
    CompletableFuture<KeyScanCursor<byte[]>> scan(ScanCursor from, ScanArgs args) {
        CompletableFuture<KeyScanCursor<byte[]>> page = new CompletableFuture<>();
        scan(page, from, args, time.nanoTime() + patience.toNanos());
        return page;
    }

    /** Where there is no connection it is not asked for yet: Lettuce would keep that, awaited or not. */
    private void scan(CompletableFuture<KeyScanCursor<byte[]>> page, ScanCursor from, ScanArgs args, long until) {
        Duration left = Duration.ofNanos(until - time.nanoTime());
        if (closed != null || isShutDown()) {
            page.completeExceptionally(shutDown());
        } else if (left.isNegative()) {
            page.completeExceptionally(late());
        } else if (connected) {
            ask(page, from, args, left);
        } else {
            schedule(() -> scan(page, from, args, until), AGAIN, page);
        }
    }

    private void ask(CompletableFuture<KeyScanCursor<byte[]>> page, ScanCursor from, ScanArgs args, Duration left) {
        var asked = connection.async().scan(from, args);
        TimeSource.Scheduled end = schedule(
                () -> {
                    page.completeExceptionally(late());
                    asked.toCompletableFuture().cancel(false);
                },
                left,
                page);
        asked.whenComplete((keys, failure) -> {
            end.cancel();
            if (failure == null) {
                page.complete(keys);
            } else {
                page.completeExceptionally(errors.of(failure));
            }
        });
    }

    /** Runs a task on the thread that sends, before it next does: calls made by the task leave in one packet. */
    void beforeSending(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException shutDown) {
            task.run();
        }
    }

    private void drain() {
        draining.set(false);
        if (!connected) {
            watch();
            return;
        }
        List<RedisCommand<byte[], byte[], ?>> packet = new ArrayList<>();
        List<ScriptCall> calls = outbox.takeAll();
        long now = time.nanoTime(); // after every call was made, before any is sent
        for (ScriptCall call : calls) {
            packet.add(prepared(call, now, false));
        }
        write(packet);
        if (!inFlight.isEmpty()) {
            watch();
        }
    }

    /** Many commands, one write. */
    private void write(List<RedisCommand<byte[], byte[], ?>> packet) {
        try {
            connection.dispatch(packet);
        } catch (RuntimeException | Error e) {
            packet.forEach(command -> ((AsyncCommand<?, ?, ?>) command).completeExceptionally(e));
        }
    }

    private RedisCommand<byte[], byte[], ?> prepared(ScriptCall call, long now, boolean inFull) {
        AsyncCommand<byte[], byte[], byte[]> command = call.command(now, earlier, inFull);
        command.onComplete((text, failure) -> answered(call, text, failure, inFull));
        if (call.isNew()) {
            inFlight.add(call);
        }
        return command;
    }

    private void answered(ScriptCall call, byte @Nullable [] text, @Nullable Throwable failure, boolean inFull) {
        lastAnswer = time.nanoTime();
        if (call.isDone()) {
            forgetDone();
            return;
        }
        if (text != null && failure == null) {
            call.answered(text, earlier);
        } else if (failure == null) {
            call.fail(errors.of(new IllegalStateException("an empty answer")));
        } else if (!inFull && RedisErrors.isUnknownScript(failure)) {
            write(List.of(prepared(call, lastAnswer, true)));
        } else if (failure instanceof RedisCommandExecutionException || !call.mayRepeat() || isLate(call, lastAnswer)) {
            call.fail(errors.of(failure));
            if (RedisErrors.isReplica(failure) && lastAnswer - leftReplica >= BETWEEN_REPLICAS.toNanos()) {
                leftReplica = lastAnswer;
                disconnect(connection);
                whenReplica.run();
            }
        } else {
            sendAgain(call); // the connection broke while it was under way
        }
        forgetDone();
    }

    private void sendAgain(ScriptCall call) {
        if (isShutDown()) {
            call.fail(shutDown());
        } else {
            schedule(() -> send(call), AGAIN);
        }
    }

    private void failRenewals() {
        for (ScriptCall call : inFlight) {
            if (!call.mayRepeat()) {
                call.fail(new StoreUnavailableException("cannot tell whether leases on " + errors.store()
                        + " were renewed: the connection failed before the answer arrived; try again"));
            }
        }
        forgetDone();
    }

    private boolean isLate(ScriptCall call, long now) {
        return now - call.askedNanos() >= patience.toNanos();
    }

    private void forgetDone() {
        for (ScriptCall first = inFlight.peek(); first != null && first.isDone(); first = inFlight.peek()) {
            inFlight.remove(first);
        }
    }

    // ---- calls that get no answer ----

    private void watch() {
        if (watching.compareAndSet(false, true)) {
            schedule(this::giveUpLate, patience.dividedBy(4));
        }
    }

    private TimeSource.Scheduled schedule(Runnable task, Duration delay) {
        return schedule(task, delay, null);
    }

    /** The timer of a lent client may have been stopped by its owner: then nothing is waited for any more. */
    private TimeSource.Scheduled schedule(Runnable task, Duration delay, @Nullable CompletableFuture<?> awaited) {
        try {
            return time.schedule(task, delay);
        } catch (IllegalStateException | RejectedExecutionException stopped) {
            watching.set(false);
            RuntimeException why = shutDown();
            failOutbox(why);
            inFlight.forEach(call -> call.fail(why));
            forgetDone();
            if (awaited != null) {
                awaited.completeExceptionally(why);
            }
            return () -> {};
        }
    }

    private void giveUpLate() {
        watching.set(false);
        forgetDone();
        long now = time.nanoTime();
        boolean silent = false;
        for (ScriptCall call : inFlight) {
            if (!call.isDone() && isLate(call, now)) {
                silent |= lastAnswer - call.askedNanos() < 0;
                call.fail(late());
            }
        }
        if (!outbox.isEmpty()) {
            outbox.fail(call -> isLate(call, now), late());
        }
        if (silent) {
            disconnect(connection);
        }
        forgetDone();
        if (!inFlight.isEmpty() || !outbox.isEmpty()) {
            watch();
        }
    }

    private RuntimeException late() {
        return new StoreUnavailableException("no answer from " + errors.store() + " within " + patience.toMillis()
                + " ms: it is down, busy, or cannot be reached");
    }

    /** Ends a connection, and Lettuce makes it anew. */
    static void disconnect(@Nullable Object connection) {
        if (connection instanceof RedisChannelHandler<?, ?> handler
                && handler.getChannelWriter() instanceof DefaultEndpoint endpoint) {
            endpoint.disconnect();
        }
    }

    // ---- the end ----

    /** Every call from now on, and all that have no answer yet, fail so. */
    void close(RuntimeException why) {
        closed = why;
        failOutbox(why);
        inFlight.forEach(call -> call.fail(why));
        inFlight.clear();
    }

    @Override
    public void close() {
        connection.close();
    }

    private void failOutbox(RuntimeException why) {
        outbox.fail(call -> true, why);
    }

    /** Whether the Lettuce client, and with it the connection, was ended by somebody else. */
    boolean isShutDown() {
        return connection instanceof RedisChannelHandler<?, ?> handler && handler.isClosed();
    }

    private RuntimeException shutDown() {
        RuntimeException end = closed;
        return end != null
                ? end
                : new StoreRefusedException(
                        errors.store() + " cannot be reached any more: its RedisClient was shut down; make a new one");
    }
}
