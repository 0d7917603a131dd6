package dev.holdfast.memcached;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.Pauses;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The claims of this client under way. Memcached has no queue and sends no messages: a claim that waits asks every now and
 * then whether its name still has an item, every 1 to 20 ms, less often the longer it waits.
 *
 * <pre>
 *   IDLE ── time to ask, or cancelled ──► ASKING ── answered ──► IDLE …
 *                                           │ cancelled meanwhile: CANCELLED, asks once more
 *                                           └── granted, refused or failed ──► DONE
 * </pre>
 *
 * <p>A claim that is called off asks once more: so it never says "busy" of a store that does not answer. Thread-safe.
 */
final class PendingClaims {
    private static final long FIRST_PAUSE = Duration.ofMillis(1).toNanos();
    private static final int MOST_DOUBLINGS = 5;
    private static final long LONGEST_PAUSE = Duration.ofMillis(20).toNanos();

    private final Map<ClaimId, Waiting> all = new ConcurrentHashMap<>();
    private final LateListener listener;
    private final Locks locks;
    private final TimeSource time;
    private volatile @Nullable HoldfastException end;

    PendingClaims(Locks locks, TimeSource time, LateListener listener) {
        this.locks = locks;
        this.time = time;
        this.listener = listener;
    }

    Pending claim(Claim claim, Answer answer) {
        Waiting waiting = new Waiting(claim, answer);
        all.put(claim.id(), waiting);
        HoldfastException ended = end;
        if (ended != null) {
            waiting.fail(ended);
        } else {
            waiting.ask();
        }
        return waiting;
    }

    /** Ends a claim without a word to the server. */
    void forget(ClaimId id) {
        Waiting waiting = all.get(id);
        if (waiting != null) {
            waiting.finish();
            waiting.answer.refused();
        }
    }

    /** Fails all claims, also those to come. */
    void endAll(HoldfastException why) {
        end = why;
        all.values().forEach(waiting -> waiting.fail(why));
    }

    private enum State {
        IDLE,
        ASKING,
        CANCELLED,
        DONE
    }

    private final class Waiting implements Pending {
        private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);
        private final Claim claim;
        private final Answer answer;
        private int questions; // these two belong to whoever has just changed the state
        private int failures;

        Waiting(Claim claim, Answer answer) {
            this.claim = claim;
            this.answer = answer;
        }

        @Override
        public void cancel() {
            if (claim.waits() && state.compareAndSet(State.IDLE, State.CANCELLED)) {
                send();
            } else {
                state.compareAndSet(State.ASKING, State.CANCELLED); // the question under way is the last
            }
        }

        void ask() {
            if (state.compareAndSet(State.IDLE, State.ASKING)) {
                send();
            }
        }

        /** Writes at once at first, and after a failure, when it may have the name already; otherwise it looks before. */
        private void send() {
            if (questions++ == 0 || failures > 0) {
                locks.acquire(claim).whenComplete(this::answered);
                return;
            }
            locks.isTaken(claim).whenComplete((taken, failure) -> {
                if (failure != null || taken) {
                    answered(Optional.empty(), failure);
                } else {
                    locks.acquire(claim).whenComplete(this::answered);
                }
            });
        }

        private void answered(Optional<Grant> grant, @Nullable Throwable failure) {
            if (failure != null) {
                failed(Errors.unwrapped(failure));
                return;
            }
            failures = 0;
            if (claim.waits()) {
                listener.reachable(claim.name());
            }
            if (grant.isPresent()) {
                finish();
                if (!answer.granted(grant.get())) {
                    locks.release(claim.name(), claim.id());
                }
            } else if (claim.waits() && state.compareAndSet(State.ASKING, State.IDLE)) {
                long longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE << Math.min(questions, MOST_DOUBLINGS));
                time.schedule(this::ask, Duration.ofNanos(Pauses.jittered(longest)));
            } else {
                finish();
                answer.refused();
            }
        }

        private void failed(Throwable why) {
            failures++;
            boolean passes = claim.waits() && why instanceof StoreUnavailableException;
            Duration pause = Duration.ofNanos(Pauses.beforeRetry(failures - 1));
            if (passes && state.compareAndSet(State.ASKING, State.IDLE)) {
                listener.unreachable(claim.name(), why);
                time.schedule(this::ask, pause);
            } else {
                fail(why);
            }
        }

        void fail(Throwable why) {
            finish();
            answer.failed(why);
        }

        void finish() {
            state.set(State.DONE);
            all.remove(claim.id(), this);
        }
    }
}
