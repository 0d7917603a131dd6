package dev.holdfast.testbed;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The fault "applied, reply lost", made by {@link TcpProxy#dropNextReply}: one request reaches the server, its reply is
 * thrown away, and the client's connection is reset. It happens at most once.
 *
 * <p>Thread-safe.
 */
public final class ReplyDrop {
    private final ChunkMatcher request;
    private final ChunkMatcher reply;
    private final AtomicReference<State> state = new AtomicReference<>(State.AWAITING_REQUEST);
    private volatile @Nullable RuntimeException failure;
    private volatile long bitten;

    private enum State {
        AWAITING_REQUEST,
        AWAITING_REPLY,
        BITTEN,
        CANCELLED
    }

    ReplyDrop(ChunkMatcher request, ChunkMatcher reply) {
        this.request = request;
        this.reply = reply;
    }

    /** Whether the reply was thrown away. */
    public boolean hasBitten() {
        return state.get() == State.BITTEN;
    }

    /** When the reply was thrown away, by {@link System#nanoTime()}; of no account before it was. */
    public long bittenAt() {
        return bitten;
    }

    /**
     * Awaits that the reply is thrown away.
     *
     * @throws AssertionError when it is not; tells whether the request was seen
     */
    public void awaitBite(Duration patience) {
        if (!Await.until(patience, this::hasBitten)) {
            throw new AssertionError(
                    "no reply was dropped within " + patience + "; the fault is " + state.get(), failure);
        }
    }

    /** Gives the fault up, unless it has already bitten: a reply not yet dropped will pass. */
    public void cancel() {
        state.updateAndGet(now -> now == State.BITTEN ? now : State.CANCELLED);
    }

    boolean takesRequest(byte[] chunk) {
        return state.get() == State.AWAITING_REQUEST
                && matches(request, chunk)
                && state.compareAndSet(State.AWAITING_REQUEST, State.AWAITING_REPLY);
    }

    boolean takesReply(byte[] chunk) {
        if (state.get() != State.AWAITING_REPLY || !matches(reply, chunk)) {
            return false;
        }
        bitten = System.nanoTime(); // before anybody sees that it has
        return state.compareAndSet(State.AWAITING_REPLY, State.BITTEN);
    }

    private boolean matches(ChunkMatcher matcher, byte[] chunk) {
        try {
            return matcher.matches(chunk.clone());
        } catch (RuntimeException e) {
            // A broken matcher must not end the proxy; awaitBite tells of it.
            failure = e;
            return false;
        }
    }
}
