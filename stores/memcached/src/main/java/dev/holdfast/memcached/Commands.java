package dev.holdfast.memcached;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Pauses;
import dev.holdfast.spi.support.PlannedTask;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import net.spy.memcached.MemcachedConnection;
import net.spy.memcached.MemcachedNode;
import net.spy.memcached.OperationFactory;
import net.spy.memcached.ops.GetsOperation;
import net.spy.memcached.ops.Operation;
import net.spy.memcached.ops.OperationErrorType;
import net.spy.memcached.ops.OperationException;
import net.spy.memcached.ops.OperationStatus;
import net.spy.memcached.ops.StatusCode;
import net.spy.memcached.ops.StoreOperation;
import net.spy.memcached.ops.StoreType;
import net.spy.memcached.protocol.ascii.AsciiOperationFactory;
import org.jspecify.annotations.Nullable;

/**
 * The commands that this store sends, each to the server that it names: spymemcached's own would go to another one while
 * that is away. Those of one server are carried out in the order in which they were sent, as long as a connection lasts.
 * Answers come on spymemcached's thread, or after the time limit. Thread-safe.
 */
final class Commands {
    private final Queue<Command<?>> underWay = new ConcurrentLinkedQueue<>();
    private final PlannedTask watch;
    private final OperationFactory operations = new AsciiOperationFactory();
    private final MemcachedConnection connection;
    private final TimeSource time;
    private final Duration limit;
    private final Errors errors;
    private final AtomicReference<@Nullable HoldfastException> end = new AtomicReference<>();

    Commands(MemcachedConnection connection, TimeSource time, Duration limit, Errors errors) {
        this.connection = connection;
        this.time = time;
        this.watch = new PlannedTask(time, this::endOverdue);
        this.limit = limit;
        this.errors = errors;
    }

    /** A value with its CAS id. */
    record Item(String value, long cas) {}

    /** A key, and the server that has it. */
    record Place(MemcachedNode server, String key) {
        static final String BASE = StoredLock.PREFIX + "base";

        /** Of the base of the numbers, one on each server. */
        static Place ofBase(MemcachedNode server) {
            return new Place(server, BASE);
        }
    }

    List<MemcachedNode> servers() {
        return List.copyOf(connection.getLocator().getAll());
    }

    Place place(String key) {
        return new Place(connection.getLocator().getPrimary(key), key);
    }

    /** Makes an item for so many seconds; false if there is one. */
    CompletableFuture<Boolean> add(Place place, int seconds, String value) {
        return send(
                place,
                on -> operations.store(StoreType.add, place.key, 0, seconds, value.getBytes(UTF_8), on),
                done -> done.status.isSuccess(),
                StatusCode.ERR_NOT_STORED);
    }

    /** Writes an item that still has its CAS id, and for so many seconds; deletes it if they are negative. */
    CompletableFuture<Boolean> cas(Place place, long cas, int seconds, String value) {
        return send(
                place,
                on -> operations.cas(StoreType.set, place.key, cas, 0, seconds, value.getBytes(UTF_8), on),
                done -> done.status.isSuccess(),
                StatusCode.ERR_EXISTS,
                StatusCode.ERR_NOT_FOUND);
    }

    /** Null if there is no such item. */
    CompletableFuture<@Nullable Item> gets(Place place) {
        return send(
                place,
                on -> operations.gets(place.key, on),
                done -> done.items.get(place.key),
                StatusCode.ERR_NOT_FOUND);
    }

    /** An item, and the base of its server, by their keys; without those that are not there. */
    CompletableFuture<Map<String, Item>> getsWithBase(Place place) {
        return send(
                place,
                on -> operations.gets(
                        place.key + " " + Place.BASE, on), // the protocol has several keys, spymemcached one
                done -> done.items,
                StatusCode.ERR_NOT_FOUND);
    }

    /** Tries what may be repeated again while connections break, until the limit. */
    <T> CompletableFuture<T> persistently(Supplier<CompletableFuture<T>> attempt) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        tryAgain(attempt, answer, time.nanoTime() + limit.toNanos(), 0);
        return answer;
    }

    private <T> void tryAgain(
            Supplier<CompletableFuture<T>> attempt, CompletableFuture<T> answer, long until, int before) {
        CompletableFuture.completedFuture(true)
                .thenCompose(go -> attempt.get())
                .handle((done, failure) -> {
                    Throwable why = failure == null ? null : Errors.unwrapped(failure);
                    if (why == null) {
                        return answer.complete(done);
                    }
                    if (!(why instanceof Errors.ConnectionLostException)) {
                        return answer.completeExceptionally(errors.broken(why));
                    }
                    if (until - time.nanoTime() <= 0) {
                        return answer.completeExceptionally(
                                errors.unavailable("is away: is it up, and can it be reached?", why));
                    }
                    time.schedule(
                            () -> tryAgain(attempt, answer, until, before + 1),
                            Duration.ofNanos(Pauses.beforeRetry(before)));
                    return false;
                })
                .exceptionally(broken -> answer.completeExceptionally(errors.broken(Errors.unwrapped(broken))));
    }

    /** Fails all commands, also those to come; false if that was done before. */
    boolean endAll(HoldfastException why) {
        boolean first = end.compareAndSet(null, why);
        underWay.forEach(command -> command.fail(why));
        return first;
    }

    /** Fails if all have been ended. */
    CompletableFuture<?> open() {
        HoldfastException ended = end.get();
        return ended == null ? CompletableFuture.completedFuture(true) : CompletableFuture.failedFuture(ended);
    }

    private <T extends @Nullable Object> CompletableFuture<T> send(
            Place place,
            Function<Command<T>, Operation> operation,
            Function<Command<T>, T> answer,
            StatusCode... refusals) {
        Command<T> command = new Command<>(operation, answer, Set.of(refusals));
        underWay.add(command);
        HoldfastException ended = end.get();
        if (ended != null) {
            command.fail(ended);
            return command;
        }
        try {
            enqueue(place.server, command.operation);
            watchTheTime();
        } catch (Throwable e) { // its queue is full, or it was shut down by the application; or there is no timer
            command.fail(errors.unavailable("cannot be sent commands: " + e.getMessage(), e));
        }
        return command;
    }

    /**
     * The same, but after an error of the server it does not end the connection, on which others wait for their answers:
     * spymemcached throws it once it has called back. After other errors, nobody knows which answer comes next.
     */
    private static Operation goingOnAfterErrors(Operation operation) {
        return (Operation) Proxy.newProxyInstance(
                Operation.class.getClassLoader(), new Class<?>[] {Operation.class}, (proxy, method, arguments) -> {
                    try {
                        return method.invoke(operation, arguments);
                    } catch (InvocationTargetException e) {
                        if (e.getTargetException() instanceof OperationException said
                                && said.getType() == OperationErrorType.SERVER) {
                            return null; // of readFromBuffer, as no other throws it
                        }
                        throw e.getTargetException();
                    }
                });
    }

    /** Also for a thread that is interrupted, from which spymemcached takes nothing. */
    private void enqueue(MemcachedNode server, Operation operation) {
        boolean interrupted = false;
        try {
            while (true) {
                interrupted |= Thread.interrupted();
                try {
                    connection.addOperations(Map.of(server, operation));
                    return;
                } catch (IllegalStateException e) {
                    if (!Thread.currentThread().isInterrupted()) {
                        throw e;
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** One task for all commands: they have one limit, so that the first sent is the first to be over. */
    private void watchTheTime() {
        if (!underWay.isEmpty()) {
            watch.within(limit.dividedBy(8));
        }
    }

    private void endOverdue() {
        underWay.removeIf(CompletableFuture::isDone);
        try {
            watchTheTime(); // first: it goes on whatever comes of this one
        } catch (Throwable notPlanned) {
            underWay.forEach(command -> command.fail(errors.broken(notPlanned)));
            return;
        }
        long now = time.nanoTime();
        for (Command<?> each : underWay) {
            if (each.until - now <= 0) {
                each.fail(errors.unavailable("gave no answer in time: is it up, and can it be reached?", null));
                MemcachedConnection.opTimedOut(
                        each.operation); // after many of these, spymemcached opens a new connection
            }
        }
    }

    /**
     * A command, and its answer; spymemcached calls it on its thread, or on one that cancels it. An Error would end that
     * thread, on which all answers come, those to an application's own commands as well: it is the command that fails.
     */
    private final class Command<T extends @Nullable Object> extends CompletableFuture<T>
            implements StoreOperation.Callback, GetsOperation.Callback {
        private final Operation operation;
        private final Function<Command<T>, T> answer;
        private final Set<StatusCode> refusals;
        private final long until = time.nanoTime() + limit.toNanos();
        private final Map<String, Item> items = new ConcurrentHashMap<>();
        private volatile OperationStatus status = new OperationStatus(true, "");

        /**
         * A command that is not sent yet.
         *
         * @param answer what it comes to
         * @param refusals the statuses that are an answer as well, beside success
         */
        Command(Function<Command<T>, Operation> operation, Function<Command<T>, T> answer, Set<StatusCode> refusals) {
            this.answer = answer;
            this.refusals = refusals;
            this.operation = goingOnAfterErrors(operation.apply(this));
        }

        /** Not sent, if it has not been. */
        void fail(HoldfastException why) {
            if (completeExceptionally(why)) {
                operation.cancel();
            }
        }

        @Override
        public void gotData(String key, int flags, long cas, byte[] data) {
            try {
                items.put(key, new Item(new String(data, UTF_8), cas));
            } catch (Throwable e) {
                completeExceptionally(e);
            }
        }

        @Override
        public void gotData(String key, long cas) {
            // by the binary protocol alone
        }

        @Override
        public void receivedStatus(OperationStatus received) {
            status = received;
        }

        @Override
        public void complete() {
            try {
                completeByStatus();
            } catch (Throwable e) {
                completeExceptionally(e);
            }
        }

        private void completeByStatus() {
            OperationException error = operation.getException();
            StatusCode code = status.getStatusCode();
            if (operation.isCancelled() || code == StatusCode.CANCELLED || code == StatusCode.TIMEDOUT) {
                completeExceptionally(new Errors.ConnectionLostException());
            } else if (error != null) {
                completeExceptionally(errors.said(String.valueOf(error.getMessage())));
            } else if (!status.isSuccess() && !refusals.contains(code)) {
                completeExceptionally(errors.said(status.getMessage()));
            } else {
                MemcachedConnection.opSucceeded(operation);
                complete(answer.apply(this));
            }
        }
    }
}
