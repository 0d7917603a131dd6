package dev.holdfast.redis;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.TimeSource;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.util.internal.ThreadExecutorMap;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
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
 * does with the one whose answer was being awaited, is sent again from here. Claims and releases may be repeated: they are
 * told apart by their ids. Renewals are not: the first may be carried out after the second, and bring an older and shorter
 * lease back; what was under way has failed, and the engine asks anew. A call that was given up is not repeated either: its
 * command is cancelled. What still arrives late was sent before its withdrawal on the same connection, or is refused
 * because it was withdrawn, or is ended by its lease.
 *
 * <p>A server that is connected but silent is found by the calls that get no answer in time; after that long a silence the
 * connection is made anew. Thread-safe.
 */
final class Link implements AutoCloseable {
    private static final Duration AGAIN = Duration.ofMillis(20);

    private final StatefulRedisConnection<byte[], byte[]> connection;
    private final TimeSource time;
    private final Duration patience;
    private final RedisErrors errors;
    private final Queue<Call> outbox = new ConcurrentLinkedQueue<>();
    private final Queue<Call> inFlight = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean draining = new AtomicBoolean();
    private final AtomicBoolean watching = new AtomicBoolean();
    private volatile Executor loop;
    private volatile long lastAnswer;
    /** How many connections there were before this one; changed on its event loop. */
    private volatile int earlier;

    private volatile @Nullable RuntimeException closed;

    Link(StatefulRedisConnection<byte[], byte[]> connection, TimeSource time, Duration patience, RedisErrors errors) {
        this.connection = connection;
        this.time = time;
        this.patience = patience;
        this.errors = errors;
        this.loop = connection.getResources().eventExecutorGroup();
        this.lastAnswer = time.nanoTime();
        connection.addListener(new RedisConnectionStateListener() {
            @Override
            @SuppressWarnings("NonAtomicVolatileUpdate") // one connection at a time
            public void onRedisConnected(RedisChannelHandler<?, ?> reconnected, SocketAddress address) {
                earlier++;
                moveToThisLoop();
            }

            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> broken) {
                failRenewals(); // before Lettuce connects again and sends them again
            }
        });
    }

    /** Called on the connection's event loop, which from now on does the sending. */
    void moveToThisLoop() {
        Executor current = ThreadExecutorMap.currentExecutor();
        if (current != null) {
            loop = current;
        }
    }

    /** Sends a call soon; its answer comes on the event loop. */
    void send(Call call) {
        outbox.add(call);
        if (draining.compareAndSet(false, true)) {
            try {
                loop.execute(this::drain);
            } catch (RejectedExecutionException shutDown) {
                failOutbox(closedOr("its client was shut down"));
            }
        }
        RuntimeException end = closed;
        if (end != null) {
            failOutbox(end);
        }
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
        long now = time.nanoTime();
        List<RedisCommand<byte[], byte[], ?>> packet = new ArrayList<>();
        for (Call call : taken()) {
            packet.add(prepared(call, now, false));
        }
        write(packet);
        if (!inFlight.isEmpty()) {
            watch();
        }
    }

    /** Many commands, one write; while there is no connection Lettuce keeps them for the next. */
    private void write(List<RedisCommand<byte[], byte[], ?>> packet) {
        try {
            connection.dispatch(packet);
        } catch (RuntimeException e) {
            packet.forEach(command -> ((AsyncCommand<?, ?, ?>) command).completeExceptionally(e));
        }
    }

    /** All calls in the outbox; of a lock whose release is followed by a claim, one call for both. */
    private List<Call> taken() {
        List<Call> batch = new ArrayList<>();
        Map<String, Integer> released = new HashMap<>();
        for (Call call = outbox.poll(); call != null; call = outbox.poll()) {
            String name = call.name();
            Integer before = name == null ? null : released.remove(name);
            if (before != null && call.isExclusiveClaim()) {
                batch.set(before, batch.get(before).with(call));
                continue;
            }
            if (name != null && call.isExclusiveRelease()) {
                released.put(name, batch.size());
            }
            batch.add(call);
        }
        return batch;
    }

    private RedisCommand<byte[], byte[], ?> prepared(Call call, long now, boolean inFull) {
        AsyncCommand<byte[], byte[], byte[]> command = call.command(now, earlier, inFull);
        command.onComplete((text, failure) -> answered(call, text, failure, inFull));
        if (call.isNew()) {
            inFlight.add(call);
        }
        return command;
    }

    private void answered(Call call, byte @Nullable [] text, @Nullable Throwable failure, boolean inFull) {
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
        } else {
            time.schedule(() -> send(call), AGAIN); // the connection broke while it was under way
        }
        forgetDone();
    }

    private void failRenewals() {
        for (Call call : inFlight) {
            if (!call.mayRepeat()) {
                call.fail(new StoreUnavailableException("the connection to " + errors.store()
                        + " broke before it answered: nobody knows whether the lease was renewed; try again"));
            }
        }
        forgetDone();
    }

    private boolean isLate(Call call, long now) {
        return now - call.firstSentNanos() >= patience.toNanos();
    }

    private void forgetDone() {
        for (Call first = inFlight.peek(); first != null && first.isDone(); first = inFlight.peek()) {
            inFlight.remove(first);
        }
    }

    // ---- calls that get no answer ----

    private void watch() {
        if (watching.compareAndSet(false, true)) {
            time.schedule(this::giveUpLate, patience.dividedBy(4));
        }
    }

    private void giveUpLate() {
        watching.set(false);
        forgetDone();
        long now = time.nanoTime();
        boolean silent = false;
        for (Call call : inFlight) {
            if (!call.isDone() && isLate(call, now)) {
                silent |= lastAnswer - call.firstSentNanos() < 0;
                call.fail(new StoreUnavailableException("no answer from " + errors.store() + " within "
                        + patience.toMillis() + " ms: it is down, busy, or cannot be reached"));
            }
        }
        if (silent) {
            connectAnew();
        }
        forgetDone();
        if (!inFlight.isEmpty()) {
            watch();
        }
    }

    private void connectAnew() {
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
        for (Call call = outbox.poll(); call != null; call = outbox.poll()) {
            call.fail(why);
        }
    }

    private RuntimeException closedOr(String otherwise) {
        RuntimeException end = closed;
        return end != null
                ? end
                : new StoreUnavailableException(errors.store() + " cannot be reached any more: " + otherwise);
    }
}
