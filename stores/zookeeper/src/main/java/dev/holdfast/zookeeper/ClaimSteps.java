package dev.holdfast.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The steps of one claim, one at a time.
 *
 * <pre>
 *   answer, message, cancel ──► step: decided under the mutex, by the phase ──► what it returns runs outside the mutex
 *                                ▲                                                    │
 *                                └──────────────── answer ◄─── request ◄──────────────┘
 * </pre>
 *
 * <p>An answer to a request of an earlier turn, or of another phase, is ignored. Thread-safe; phase and turn are read and
 * changed in steps alone.
 */
final class ClaimSteps {
    /** The result of a step that has nothing to do. */
    static final Runnable NOTHING = () -> {};

    enum Phase {
        /** Not sent, or to be sent again when the connection is back. */
        APART,
        CHECKING,
        ENTERING,
        WAITING,
        CONFIRMING,
        LEAVING,
        ANSWERED
    }

    private final CompletableFuture<?> answer;
    private final ReentrantLock mutex = new ReentrantLock();
    private Phase phase = Phase.APART;
    private int turn;

    /**
     * @param answer of the claim; fails when a request breaks in a way that no server answers
     */
    ClaimSteps(CompletableFuture<?> answer) {
        this.answer = answer;
    }

    Phase phase() {
        return phase;
    }

    boolean is(Phase asked) {
        return phase == asked;
    }

    void enter(Phase next) {
        phase = next;
    }

    /** From here on the answers to earlier requests are ignored. */
    void turn() {
        turn++;
    }

    void step(Supplier<Runnable> step) {
        Runnable then;
        mutex.lock();
        try {
            then = step.get();
        } finally {
            mutex.unlock();
        }
        then.run();
    }

    /** To be returned by a step: sends a request, and takes the next step by its answer. */
    <T> Runnable request(Supplier<CompletableFuture<T>> request, Function<T, Runnable> next) {
        int asked = turn;
        Phase then = phase;
        return () -> guarded(request)
                .thenAccept(reply -> step(() -> asked == turn && phase == then ? next.apply(reply) : NOTHING))
                .exceptionally(broken -> {
                    answer.completeExceptionally(Errors.unwrapped(broken)); // rather than never
                    return null;
                });
    }

    /** A request that throws, as the application's ACLs may, is one that failed. */
    private static <T> CompletableFuture<T> guarded(Supplier<CompletableFuture<T>> request) {
        try {
            return request.get();
        } catch (RuntimeException | Error broken) {
            return CompletableFuture.failedFuture(broken);
        }
    }
}
