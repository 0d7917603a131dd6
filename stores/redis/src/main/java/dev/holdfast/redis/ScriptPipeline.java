package dev.holdfast.redis;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.PlannedTask;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One connection to one server, on which scripts are called in the order they were asked for.
 *
 * <pre>
 *   any thread ── call ──► outbox ──► event loop: drain ──► one write of all that came together ──► server
 *                                        │ a release and the claim of the same lock behind it: one script
 *   engine ◄── answer, on the event loop ◄──────────────────────────────────────────────────────────┘
 * </pre>
 *
 * <p>Nobody writes to the socket but the connection's own thread, which takes all calls that came meanwhile and sends them
 * in one packet ({@link Packets}). That costs no thread change (a call from outside must come to that thread anyway) and lets a release,
 * which nobody waits for, travel with the claim that follows it.
 *
 * <p>When the connection breaks, Lettuce connects again. What was not answered is taken back before, and sent on the next
 * connection from here: Lettuce would repeat it at a time that nobody else knows, and a lease counts from the sending. It leaves
 * in its old order, so that a claim stays behind the release of its lock. Until it is connected again, calls stay in
 * the outbox, and those that were given up are forgotten: Lettuce would keep each of them. Claims and releases may be
 * repeated: they are told apart by their ids. Renewals are not: the first may be carried out after the second, and bring
 * an older and shorter lease back; what was under way has failed, and the engine asks anew. A call that was given up is
 * not repeated either: its command is cancelled. What still arrives late was sent before its withdrawal on the same
 * connection, or is refused because it was withdrawn, or is ended by its lease.
 *
 * <p>A server that is connected but silent is found by the calls that get no answer in time ({@link LateCalls}); after that
 * long a silence the connection is made again; and so it is when the server has become a replica, since its name may lead to the new master by
 * now. When the Lettuce client was shut down by its owner, every call is refused that was not sent before.
 *
 * <p>With {@link Acks}, a packet that may grant something ends with WAIT, and the next packet leaves when that is answered:
 * the calls that come meanwhile share the next one. Thread-safe.
 */
final class ScriptPipeline implements ScriptSender, ScriptSender.KeyPages {
    private static final Duration AGAIN = Duration.ofMillis(20);

    /** How many grants one script renews: short enough that others get in between. */
    static final int RENEWED_TOGETHER = 64;

    /** How often a connection to a replica is made anew: all who wait ask as soon as it stands. */
    private static final Duration BETWEEN_REPLICAS = Duration.ofSeconds(1);

    private final LettuceConnection connection;
    private final TimeSource time;
    private final Duration patience;
    private final RedisErrors errors;
    private final PipelineEnd end;
    private final Outbox outbox = new Outbox();
    /** The calls that were sent, or are about to be, and have no answer yet. */
    private final Set<ScriptCall> inFlight = ConcurrentHashMap.newKeySet();

    private final Packets packets;
    /** A lent client may refuse more: its queue is short. */
    private final int mostTogether;

    private final LateCalls late;
    private final PlannedTask again;
    /** How often it was asked to drain since the last drain began, with that one: two at once would send out of order. */
    private final AtomicInteger drains = new AtomicInteger();

    private volatile boolean connected = true;
    /** Whether the server sorts keys into slots, as a cluster behind one address does. */
    private volatile boolean slots;
    /** Why the last attempt to connect again was refused. Means something while it is not connected. */
    private volatile @Nullable StoreRefusedException refusal;

    private volatile long lastAnswer;
    private volatile PipelineEvents events = new PipelineEvents() {};
    private volatile long leftReplica;

    ScriptPipeline(
            StatefulRedisConnection<byte[], byte[]> connection,
            TimeSource time,
            Duration patience,
            RedisErrors errors,
            Acks acks) {
        this.connection = new LettuceConnection(connection);
        this.time = time;
        this.patience = patience;
        this.errors = errors;
        this.end = new PipelineEnd(this.connection, errors);
        this.packets = new Packets(this, this.connection, inFlight, acks);
        this.mostTogether = Math.max(1, connection.getOptions().getRequestQueueSize() / 2);
        this.late = new LateCalls(this, outbox, inFlight, packets, time, patience);
        this.again = new PlannedTask(time, this::drainSoon);
        this.lastAnswer = time.nanoTime();
        this.leftReplica = lastAnswer - BETWEEN_REPLICAS.toNanos();
        this.connection.tell(this::connectedAgain, this::disconnected);
    }

    /** Names all keys of a lock from now on, and no two locks in one script. */
    void useSlots() {
        slots = true;
    }

    /** Names what is told of the connection. */
    void tell(PipelineEvents told) {
        events = told;
    }

    private void connectedAgain() {
        // the greeting counts as an answer: requests from before were not sent on this connection
        lastAnswer = time.nanoTime();
        if (connected) {
            takeBack(); // it broke before anybody listened
        }
        connected = true;
        refusal = null;
        drainSoon();
        events.connected();
    }

    private void disconnected() {
        refusal = null;
        connected = false;
        if (end.isRetired()) {
            return;
        }
        if (isShutDown()) {
            RuntimeException why = end.shutDown();
            close(why);
            events.shutDown(why);
            return;
        }
        try {
            takeBack();
        } finally {
            events.disconnected();
        }
    }

    /**
     * An attempt to connect again has failed. Lettuce goes on trying, but nobody waits for a log-in.
     *
     * @param refused why the server refused the log-in; null if it failed for another reason
     */
    void notConnected(@Nullable StoreRefusedException refused) {
        long heard = time.nanoTime();
        if (connected) {
            return;
        }
        refusal = refused;
        if (refused != null) { // not what is asked from now on, or sent again: it may be on the next connection already
            fail(call -> !connected && call.askedNanos() - heard <= 0, refused);
        }
    }

    /** Ends calls by a refused log-in, or with the client. Only what was never sent is refused. */
    private void fail(Predicate<ScriptCall> which, RuntimeException why) {
        outbox.fail(call -> which.test(call) && !call.wasSent(), why);
        RuntimeException ofSent = ofSent(why);
        outbox.fail(which, ofSent);
        Outbox.fail(inFlight, which, ofSent);
    }

    /** The failure of a call that was sent: where others are refused, the server may have carried out this one. */
    private RuntimeException ofSent(RuntimeException why) {
        return why instanceof StoreRefusedException
                ? new StoreUnavailableException(
                        "cannot tell whether " + errors.store() + " carried out a request: the connection ended before"
                                + " the answer arrived, and " + why.getMessage(),
                        why)
                : why;
    }

    /** Ends all calls, after the owner of the Lettuce client has shut it down; returns why. */
    RuntimeException failAll() {
        RuntimeException why = end.shutDown();
        fail(call -> true, why);
        return why;
    }

    /**
     * The server no longer keeps the locks: calls that it has not answered are {@linkplain PipelineEvents#unsent handed
     * back}, except renewals under way, which fail.
     */
    void retire() {
        connected = false;
        takeBack(); // first, so that all are handed back in their order
        end.retire();
        connection.lettuce().closeAsync();
        inFlight.clear();
        outbox.moveTo(events::unsent, errors);
    }

    /** Ends all calls that have no answer, none of which is repeated. */
    void forget(RuntimeException why) {
        outbox.fail(call -> true, why);
        Outbox.fail(inFlight, call -> true, why);
    }

    /** Lettuce repeats nothing: each call without an answer is in the outbox again, but for renewals, which fail. */
    private void takeBack() {
        try {
            Outbox.fail(
                    inFlight,
                    call -> !call.mayRepeat(),
                    new StoreUnavailableException("unknown whether leases on " + errors.store()
                            + " were renewed: the connection failed before the answer arrived; try again"));
        } finally {
            inFlight.forEach(ScriptCall::cancelCommand);
            packets.cancelConfirmations();
        }
    }

    /** Called on the connection's event loop, which from now on does the sending. */
    void moveToThisLoop() {
        connection.moveToThisLoop();
    }

    @Override
    public void send(ScriptCall call) {
        call.asked(time.nanoTime());
        if (slots) {
            call.inCluster();
        }
        add(call, this::drainSoon);
    }

    /** Whatever ends the pipeline meanwhile ends the call, too. */
    private void add(ScriptCall call, Runnable sendsSoon) {
        outbox.add(call);
        if (isShutDown() || end.isRetired()) {
            sendNothing();
        } else if (connected) {
            sendsSoon.run();
        } else {
            late.watch();
            StoreRefusedException refused = refusal;
            if (refused != null) {
                fail(each -> each == call, refused);
            }
        }
        RuntimeException closed = end.closed();
        if (closed != null) {
            fail(any -> true, closed);
        }
    }

    /** Retiring ends the connection, too; what is retired was so before. */
    private void sendNothing() {
        if (end.isRetired()) {
            outbox.moveTo(events::unsent, errors);
        } else {
            failAll();
        }
    }

    /** Has all that waits sent soon, on the event loop. */
    void drainSoon() {
        if (drains.getAndIncrement() == 0) {
            try {
                Executor loop = connection.loop();
                loop.execute(() -> drain(loop));
            } catch (RejectedExecutionException ended) {
                drains.set(0);
                sendNothing();
            } catch (Throwable noThread) { // the next call has all of them sent
                drains.set(0);
                throw noThread;
            }
        }
    }

    private void drainLater() {
        try {
            again.within(AGAIN);
        } catch (IllegalStateException | RejectedExecutionException stopped) {
            failAll(); // the owner of a lent client may have stopped its timer
        }
    }

    @Override
    public CompletionStage<List<KeyPages>> keyPages() {
        return CompletableFuture.completedFuture(List.of(this));
    }

    @Override
    public CompletableFuture<KeyScanCursor<byte[]>> scan(ScanCursor from, ScanArgs args) {
        return new KeyScan(this, time, patience, from, args).start();
    }

    @Override
    public int renewedTogether() {
        return slots ? 1 : RENEWED_TOGETHER;
    }

    @Override
    public void beforeSending(String lock, Runnable task) {
        try {
            connection.loop().execute(task);
        } catch (RejectedExecutionException shutDown) {
            task.run();
        }
    }

    private void drain(Executor on) {
        if (on != connection.loop()) {
            drains.set(0);
            drainSoon(); // it was made again meanwhile, on another thread
            return;
        }
        drains.set(1);
        try {
            long before = connection.number();
            if (connected && !packets.isUnconfirmed()) {
                List<ScriptCall> packet = outbox.take(inFlight, this::send, mostTogether);
                packets.write(packet, time.nanoTime(), false);
                if (packet.size() == mostTogether && !outbox.isEmpty()) {
                    drainLater();
                }
                if (!connected || connection.number() != before) {
                    takeBack(); // it broke on its own thread meanwhile, which was not known yet
                }
            }
        } catch (Throwable broken) { // such as of memory: nobody else would answer what was not sent
            fail(call -> !call.isUnderWay(), errors.of(broken));
        } finally {
            boolean askedAgain = drains.getAndSet(0) > 1;
            try {
                if (!inFlight.isEmpty() || !outbox.isEmpty()) {
                    late.watch();
                }
            } finally {
                if (askedAgain) {
                    drainSoon();
                }
            }
        }
    }

    // ---- what is answered, and what is not answered by its script ----

    /** A call or a WAIT ended, with or without an answer of the server; returns the time. */
    long heard(@Nullable Throwable failure) {
        long now = time.nanoTime();
        if (failure == null || failure instanceof RedisCommandExecutionException) {
            lastAnswer = now;
        }
        return now;
    }

    /** The number of the connection now: a call may be answered on another one than it was sent on. */
    long connectionNumber() {
        return connection.number();
    }

    /** The server did not run the call, because another one has the call's lock. */
    boolean redirected(ScriptCall call, String answer) {
        inFlight.remove(call); // first: it may be in another pipeline's at once
        call.notRun(connection.number());
        try {
            return events.redirected(call, answer);
        } catch (Throwable broken) { // a direction that nobody can read, or an Error, such as of memory
            call.fail(broken, errors);
            return true;
        }
    }

    /** It failed, or its connection did. */
    void failed(ScriptCall call, Throwable failure) {
        boolean timedOut = failure instanceof RedisCommandTimeoutException; // by a lent client, whose connection stays
        boolean isOver = !call.mayRepeat() || late.isLate(call, time.nanoTime());
        if (timedOut && isOver) {
            return; // still without an answer: when it is late, its watch ends it, and the connection if that is silent
        }
        if (failure instanceof RedisCommandExecutionException || isOver) {
            call.fail(failure instanceof ScriptCall.TakenBack ? late.failure() : errors.of(failure));
            if (RedisErrors.isReplica(failure) && lastAnswer - leftReplica >= BETWEEN_REPLICAS.toNanos()) {
                leftReplica = lastAnswer;
                LettuceConnection.disconnect(connection.lettuce());
                events.becameReplica();
            }
        } else {
            sendAgain(call); // the connection broke while it was under way, or a lent client's own timeout ended it
        }
    }

    private void sendAgain(ScriptCall call) {
        call.unanswered();
        try {
            add(call, this::drainLater); // not at once: it may fail again
        } catch (Throwable notPlanned) { // such as of memory
            call.fail(notPlanned, errors);
        }
    }

    // ---- the end ----

    @Override
    public void close(RuntimeException why) {
        end.close(why);
        fail(call -> true, why);
        inFlight.clear();
    }

    @Override
    public void close() {
        connection.lettuce().close();
    }

    @Override
    public boolean isShutDown() {
        return connection.isShutDown();
    }

    /** How it ends, if it has. */
    PipelineEnd end() {
        return end;
    }

    /** Whether there is a connection now. */
    boolean isConnected() {
        return connected;
    }

    /** Whether calls wait for a connection. */
    boolean isStuck() {
        return !connected && !end.isRetired() && (!outbox.isEmpty() || !inFlight.isEmpty());
    }

    StatefulRedisConnection<byte[], byte[]> connection() {
        return connection.lettuce();
    }

    LateCalls late() {
        return late;
    }

    long lastAnswer() {
        return lastAnswer;
    }

    RedisErrors errors() {
        return errors;
    }
}
