package dev.holdfast.recipes;

import dev.holdfast.HoldfastException;
import dev.holdfast.LockClient;
import dev.holdfast.Once;
import dev.holdfast.OnceOptions;
import dev.holdfast.OnceResult;
import dev.holdfast.OnceRun;
import dev.holdfast.OnceTurn;
import dev.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.Optional;

/**
 * Handles each message once, although its queue delivers it more than once: again after a time-out, to two consumers at
 * the same time, or again after a crash. The message's own id says which deliveries are the same.
 *
 * <pre>{@code
 * IdempotentConsumer orders = IdempotentConsumer.of(client, "orders", Duration.ofDays(7));
 * if (orders.handle(message.id(), turn -> book(message, turn.token())).isDone()) {
 *     message.acknowledge();
 * }
 * }</pre>
 *
 * <p>How it works: {@link Once} per message, under the name {@code name/id}. A record in the store says that the message was
 * handled; a lock keeps two consumers from handling it at the same time.
 *
 * <ul>
 *   <li>A handler that throws has not handled the message: the exception is passed on, and the next delivery is handled.
 *   <li>If a consumer dies while it handles a message, the next delivery after the end of its lease is handled.
 *   <li>A consumer that stood still for longer than its lease may still be at work when another one begins. What the
 *       handler writes to should check {@link OnceTurn#token()}, or be written in one transaction with the id of the message.
 *   <li>A message that is delivered again after the time for which its id is kept is handled again. Keep an id for longer
 *       than the queue can deliver the message.
 * </ul>
 *
 * <p>Immutable and thread-safe.
 */
public final class IdempotentConsumer {
    private final LockClient client;
    private final String name;
    private final OnceOptions options;

    private IdempotentConsumer(LockClient client, String name, OnceOptions options) {
        this.client = client;
        this.name = name;
        this.options = options;
    }

    /** What became of a delivery. */
    public enum Handled {
        /** It was handled now, here. */
        NOW,
        /** It was handled before, here or elsewhere. */
        BEFORE,
        /** Another consumer handles it at this moment, or has failed and is not to be followed. Do not acknowledge it. */
        NOT_YET;

        /** Whether the message has been handled, so that it may be acknowledged. */
        public boolean isDone() {
            return this != NOT_YET;
        }
    }

    /**
     * Handles a message.
     *
     * @param <E> the checked exception of the handler; {@code RuntimeException} if it has none
     */
    @FunctionalInterface
    public interface Handler<E extends Exception> {
        /** Handles it; {@link OnceTurn#token()} is greater than that of every earlier handling of the same message. */
        void handle(OnceTurn turn) throws E;
    }

    /**
     * A consumer.
     *
     * @param name of the consumer, the same in all its processes; the lock of a message is {@code name/id}
     * @param keep for how long ids are kept, from the end of the handling on: 100 ms to 366 days
     * @throws IllegalArgumentException if the time is out of range
     */
    public static IdempotentConsumer of(LockClient client, String name, Duration keep) {
        return of(client, name, OnceOptions.keptFor(keep));
    }

    /**
     * A consumer with options of its own, such as a lease.
     *
     * @throws IllegalArgumentException if the options have a schedule: a message has no period
     */
    public static IdempotentConsumer of(LockClient client, String name, OnceOptions options) {
        if (options.schedule().isPresent()) {
            throw new IllegalArgumentException(
                    "the consumer '" + name + "' handles each message once, so its options have no schedule");
        }
        return new IdempotentConsumer(client, name, options);
    }

    /**
     * Handles a message unless that was done before. Does not wait for another consumer that handles it.
     *
     * @param id of the message, the same at each delivery
     * @param handler runs on this thread
     * @throws E what the handler throws; the message counts as not handled
     * @throws StoreUnavailableException if the store does not answer. If the handler has run, the message says so
     * @throws HoldfastException as {@link Once#run}; also if the handler ran for longer than its lock lasted, and another
     *     consumer had begun meanwhile
     * @throws IllegalArgumentException if {@code name/id} is not a lock's name
     */
    public <E extends Exception> Handled handle(String id, Handler<E> handler) throws E {
        Attempt<E> attempt = new Attempt<>(handler);
        OnceResult result = client.once(LockNames.of(name, id), options).run(attempt::run);
        if (result instanceof OnceResult.Ran) {
            return Handled.NOW;
        }
        if (result instanceof OnceResult.Failed failed) {
            throw attempt.rethrown(failed.cause());
        }
        return isDone(((OnceResult.Skipped) result).by()) ? Handled.BEFORE : Handled.NOT_YET;
    }

    private static boolean isDone(Optional<OnceRun> run) {
        return run.map(OnceRun::state).filter(OnceRun.State.DONE::equals).isPresent();
    }

    @Override
    public String toString() {
        return "IdempotentConsumer[" + name + "]";
    }

    /** Keeps what the handler throws apart from what else may fail. */
    private static final class Attempt<E extends Exception> {
        private final Handler<E> handler;
        private Optional<Exception> thrown = Optional.empty();

        Attempt(Handler<E> handler) {
            this.handler = handler;
        }

        void run(OnceTurn turn) throws E {
            try {
                handler.handle(turn);
            } catch (Exception e) {
                thrown = Optional.of(e);
                throw e;
            }
        }

        @SuppressWarnings("unchecked") // the handler throws nothing else
        RuntimeException rethrown(Exception cause) throws E {
            if (thrown.isPresent() && thrown.get() == cause) {
                throw (E) cause;
            }
            return cause instanceof RuntimeException e ? e : new IllegalStateException(cause);
        }
    }
}
