package dev.holdfast;

import dev.holdfast.internal.StackRoom;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One term of leadership.
 *
 * <pre>{@code
 * while (term.isValid()) {
 *     reports.writeNext(term.token());
 * }
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class Term {
    private final Candidacy candidacy;
    private final Hold hold;
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicBoolean released = new AtomicBoolean();
    private volatile @Nullable Loss loss;
    private volatile Runnable guard = () -> {};
    private final long began = System.nanoTime();

    /** Whether its onElected has begun, and whether that failed; for the candidacy's thread alone. */
    boolean reported;

    boolean failed;

    Term(Candidacy candidacy, Hold hold) {
        this.candidacy = candidacy;
        this.hold = hold;
    }

    /** The election's name. */
    public String name() {
        return hold.name();
    }

    /**
     * The number of the term, a fencing token: greater than that of every earlier term of this election, by any
     * process. See {@link Hold#token()}.
     */
    public long token() {
        return hold.token();
    }

    /**
     * Whether this process surely leads right now: false once the term has ended or is in doubt, and false before another
     * process can lead. Sends no request; cheap.
     */
    public boolean isValid() {
        return !ended.get() && hold.isValid();
    }

    /** How long it stays valid if no renewal succeeds; zero when it is not valid. */
    public Duration remaining() {
        return ended.get() ? Duration.ZERO : hold.remaining();
    }

    /**
     * Why it was lost; empty while it lasts and where it was resigned or its candidacy closed. A term that was lost while
     * {@link LeaderListener#onRevoked} ran after a resignation says so when that has returned.
     */
    public Optional<Loss> loss() {
        return Optional.ofNullable(loss);
    }

    /**
     * Ends it: {@link #isValid()} is false from now on, {@link LeaderListener#onRevoked} follows, and then the next in
     * line leads. The candidacy goes to the end of the line. Does nothing when the term has ended.
     */
    public void resign() {
        StackRoom.forStep(); // a term that ended half-way would be kept and renewed, and nobody would lead
        candidacy.end(this, null);
    }

    /** Whether this call ended it. A deadline that has passed unnoticed counts first. */
    boolean end(@Nullable Loss why) {
        if (why == null && !ended.get() && !hold.isValid() && ended.get()) {
            return false; // this call found it lost
        }
        if (!ended.compareAndSet(false, true)) {
            return false;
        }
        loss = why;
        return true;
    }

    boolean hasEnded() {
        return ended.get();
    }

    /** Keeps the hold whether or not any code refers to it, and ends the term as soon as its loss is known. */
    void watch() {
        hold.detach();
        hold.onLossAtOnce(why -> candidacy.end(this, why));
    }

    /** Runs something when the term is released. */
    void onRelease(Runnable action) {
        guard = action;
    }

    boolean lastedLongerThan(Duration time) {
        return System.nanoTime() - began > time.toNanos();
    }

    /** Lets the next in line lead. */
    void release() {
        if (released.compareAndSet(false, true)) {
            guard.run();
            try {
                hold.close();
            } catch (HoldLostException lost) {
                if (loss == null) {
                    loss = lost.loss();
                }
            }
        }
    }

    @Override
    public String toString() {
        return "Term[" + name() + ", token " + token() + (isValid() ? "]" : ", ended]");
    }
}
