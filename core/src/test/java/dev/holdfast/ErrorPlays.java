package dev.holdfast;

import dev.holdfast.memory.MemoryStore;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Short plays of two clients, in which something fails once: what a caller wants, gets and closes. What is thrown at a caller
 * counts as an answer; a wait without an end does not.
 */
public final class ErrorPlays {
    /** The play was over before so much had come that may fail. */
    public static final String NOT_REACHED = "not reached";

    private static final String LOCK = "a";
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final HoldOptions OPTIONS = HoldOptions.defaults().lease(Duration.ofMillis(300));

    /** What happens in a play. */
    private interface Play {
        void on(ErrorPlays stage) throws Exception;
    }

    private static final Map<String, Play> PLAYS = plays();

    private final LockClient client;
    private final LockClient rival;
    private final List<CompletableFuture<?>> waits = new ArrayList<>();
    private final ConcurrentLinkedQueue<Hold> holds = new ConcurrentLinkedQueue<>();
    private final Set<Long> tokens = ConcurrentHashMap.newKeySet();
    private volatile boolean someRead;
    private volatile boolean tokenTwice;

    private ErrorPlays(MemoryStore store) {
        client = LockClient.builder(store).build();
        rival = LockClient.builder(store).build();
    }

    private static Map<String, Play> plays() {
        Map<String, Play> plays = new LinkedHashMap<>();
        plays.put("one holds and closes", stage -> stage.close(stage.acquire(OPTIONS)));
        plays.put(
                "one closes and waits for the release",
                stage -> stage.close(stage.acquire(OPTIONS.awaitRelease(true))));
        plays.put("one hands over", stage -> stage.handOver(OPTIONS, OPTIONS));
        plays.put("one hands over with a fresh number", stage -> {
            HoldOptions once = OPTIONS.handOver(0, Duration.ofSeconds(1));
            stage.handOver(once, once);
        });
        plays.put(
                "one hands over with another lease",
                stage -> stage.handOver(OPTIONS, OPTIONS.lease(Duration.ofMillis(400))));
        plays.put(
                "one hands over with another lease and waits for the release",
                stage -> stage.handOver(OPTIONS.awaitRelease(true), OPTIONS.lease(Duration.ofMillis(400))));
        plays.put("a thread reads on under its writer", stage -> {
            DistributedReadWriteLock both = stage.client.readWriteLock(LOCK, OPTIONS.reentrant(true));
            Optional<Hold> writing = stage.attempt(() -> both.write().acquire());
            Optional<Hold> reading = stage.attempt(() -> both.read().acquire());
            stage.close(writing);
            stage.close(reading);
        });
        plays.put("a thread locks and unlocks", stage -> {
            Lock lock = stage.exclusive(OPTIONS).asLock();
            stage.attempt(() -> locked(lock))
                    .ifPresent(held -> stage.attempt(() -> {
                        held.unlock();
                        return held;
                    }));
        });
        plays.put("a lock is retained, used again, and wanted", stage -> {
            HoldOptions retained = OPTIONS.retain(Duration.ofSeconds(30));
            stage.close(stage.acquire(retained));
            stage.close(stage.acquire(retained));
            stage.besideARival(() -> null);
        });
        plays.put("a reader and a writer", stage -> {
            Optional<Hold> reading =
                    stage.attempt(() -> stage.readWrite().read().acquire());
            stage.waits(stage.attempt(() -> stage.readWrite().write().acquireAsync()));
            stage.waits(stage.attempt(() -> stage.readWrite().read().acquireAsync()));
            stage.close(reading);
        });
        plays.put("a reader behind a writer behind another", stage -> {
            Optional<Hold> writing =
                    stage.attempt(() -> stage.readWrite().write().acquire());
            stage.waits(stage.attempt(() -> stage.readWrite().write().acquireAsync()));
            stage.waits(stage.attempt(() -> stage.readWrite().read().acquireAsync()));
            stage.close(writing);
        });
        plays.put("a writer becomes a reader beside others", stage -> {
            Optional<Hold> writing =
                    stage.attempt(() -> stage.readWrite().write().acquire());
            stage.waits(stage.attempt(() -> stage.readWrite().read().acquireAsync()));
            stage.waits(stage.attempt(() -> stage.readWrite().write().acquireAsync()));
            writing.ifPresent(hold -> stage.attempt(() -> {
                stage.readWrite().downgrade(hold);
                return hold;
            }));
            stage.close(writing);
        });
        plays.put("permits", stage -> {
            DistributedSemaphore two = stage.client.semaphore(LOCK, 2, OPTIONS);
            Optional<Hold> one = stage.attempt(two::acquire);
            Optional<Hold> other = stage.attempt(two::acquire);
            stage.waits(stage.attempt(two::acquireAsync));
            stage.waits(stage.attempt(() -> two.acquireAsync(2)));
            stage.close(one);
            stage.close(other);
        });
        plays.put(
                "a wait beside a rival runs out",
                stage -> stage.besideARival(() ->
                        stage.waits(Optional.of(stage.exclusive(OPTIONS).tryAcquireAsync(Duration.ofMillis(20))))));
        plays.put(
                "a try beside a rival",
                stage -> stage.besideARival(
                        () -> stage.close(stage.exclusive(OPTIONS).tryAcquire())));
        plays.put(
                "a wait beside a rival is given up",
                stage -> stage.besideARival(() -> {
                    CompletableFuture<Hold> wait = stage.exclusive(OPTIONS).acquireAsync();
                    return wait.cancel(false) || stage.waits(Optional.of(wait));
                }));
        plays.put("a rival gives it to one who waits", stage -> {
            List<Optional<CompletableFuture<Hold>>> waits = new ArrayList<>();
            stage.besideARival(() -> waits.add(stage.attempt(stage.exclusive(OPTIONS)::acquireAsync)));
            waits.forEach(stage::waits);
        });
        plays.put("a hold is broken while another waits", stage -> {
            Optional<Hold> held = stage.acquire(OPTIONS);
            stage.waits(stage.attempt(stage.exclusive(OPTIONS)::acquireAsync));
            held.ifPresent(hold -> stage.attempt(() -> stage.rival.breakGrant(LOCK, hold.token(), true)));
            held.ifPresent(hold -> stage.within(() -> !hold.isValid()));
            stage.close(held);
        });
        plays.put("the client is closed", stage -> {
            stage.acquire(OPTIONS);
            stage.waits(stage.attempt(stage.exclusive(OPTIONS)::acquireAsync));
            stage.attempt(() -> {
                stage.client.close();
                return stage;
            });
        });
        return plays;
    }

    /** What can be played. */
    public static Stream<String> names() {
        return PLAYS.keySet().stream();
    }

    /**
     * Plays it; something fails.
     *
     * @param where what may fail
     * @param at which of all that may, counted from 0
     * @param inARow how many fail, one after another
     * @param error what it fails with
     * @return what is wrong then; empty if nothing is
     */
    public static String play(String name, Predicate<Object> where, int at, int inARow, Class<? extends Error> error)
            throws Exception {
        AtomicReference<Object> failed = new AtomicReference<>();
        AtomicInteger left = new AtomicInteger(at);
        Error thrown = error.getConstructor().newInstance();
        ErrorPlays stage = new ErrorPlays(new MemoryStore());
        fault().set(null, (Consumer<Object>) effect -> {
            int before = where.test(effect) ? left.getAndDecrement() : Integer.MIN_VALUE;
            if (before <= 0 && before > -inARow) {
                failed.set(effect);
                throw thrown;
            }
        });
        try {
            stage.perform(PLAYS.get(name));
            return failed.get() == null ? NOT_REACHED : "";
        } catch (IllegalStateException wrong) {
            return name + ": " + wrong.getMessage() + " after " + error.getSimpleName() + " at " + at + ", "
                    + failed.get().getClass().getSimpleName() + " " + failed.get();
        } finally {
            fault().set(null, (Consumer<Object>) effect -> {});
            stage.attempt(() -> {
                stage.client.close();
                return stage;
            });
            stage.rival.close();
        }
    }

    private static Field fault() throws ReflectiveOperationException {
        Field fault = Class.forName("dev.holdfast.internal.Effects").getDeclaredField("fault");
        fault.setAccessible(true);
        return fault;
    }

    private void perform(Play play) throws Exception {
        CompletableFuture<Void> over = new CompletableFuture<>();
        Thread actor = new Thread(() -> {
            try {
                play.on(this);
                over.complete(null);
            } catch (Throwable unexpected) {
                over.completeExceptionally(unexpected);
            }
        });
        actor.setDaemon(true);
        actor.start();
        await("the play does not end", over);
        for (CompletableFuture<?> wait : waits) {
            await("a wait does not end", wait);
        }
        holds.forEach(hold -> close(Optional.of(hold)));
        require("two had one token", () -> someRead || !tokenTwice);
        require("it stays held", () -> close(rival.lock(LOCK, OPTIONS).tryAcquire(PATIENCE)));
        require("the client remembers it", () -> Entries.locks(client).isEmpty());
    }

    // ---- what is done in plays ----

    private DistributedLock exclusive(HoldOptions options) {
        return client.lock(LOCK, options);
    }

    private DistributedReadWriteLock readWrite() {
        someRead = true; // beside each other, with one token
        return client.readWriteLock(LOCK, OPTIONS);
    }

    private Optional<Hold> acquire(HoldOptions options) {
        return attempt(() -> noted(exclusive(options).acquire()));
    }

    private Hold noted(Hold hold) {
        if (!tokens.add(hold.token())) {
            tokenTwice = true;
        }
        return hold;
    }

    private void handOver(HoldOptions first, HoldOptions second) {
        Optional<Hold> held = acquire(first);
        waits(attempt(exclusive(second)::acquireAsync));
        waits(attempt(exclusive(second)::acquireAsync));
        close(held);
    }

    private void besideARival(Callable<?> asks) {
        Optional<Hold> theirs = attempt(rival.lock(LOCK, OPTIONS)::acquire);
        attempt(asks);
        close(theirs);
    }

    /** Closes it, and again where the close was told an Error, of which there may be two. */
    private boolean close(Optional<Hold> held) {
        held.ifPresent(hold -> attempt(() -> EngineCase.closed(hold))
                .or(() -> attempt(() -> EngineCase.closed(hold)))
                .or(() -> attempt(() -> EngineCase.closed(hold))));
        return held.isPresent();
    }

    private static Lock locked(Lock lock) {
        lock.lock();
        return lock;
    }

    /** What a caller does and is told. */
    private <T> Optional<T> attempt(Callable<T> what) {
        try {
            return Optional.ofNullable(what.call());
        } catch (Throwable told) {
            return Optional.empty();
        }
    }

    /** One who gets a hold closes it. */
    private <T> boolean waits(Optional<CompletableFuture<T>> wait) {
        wait.ifPresent(future -> waits.add(future.thenAccept(got -> {
            Object hold = got instanceof Optional<?> perhaps ? perhaps.orElse(null) : got;
            if (hold instanceof Hold mine) {
                holds.add(noted(mine));
                close(Optional.of(mine));
            }
        })));
        return wait.isPresent();
    }

    // ---- what must be so ----

    private static void await(String otherwise, CompletableFuture<?> end) throws Exception {
        try {
            end.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException never) {
            throw new IllegalStateException(otherwise);
        } catch (ExecutionException told) {
            // as a caller may be
        }
    }

    private void require(String otherwise, Callable<Boolean> condition) {
        if (!within(condition)) {
            throw new IllegalStateException(otherwise);
        }
    }

    private boolean within(Callable<Boolean> condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() - end < 0) {
            if (attempt(condition).orElse(false)) {
                return true;
            }
            Thread.onSpinWait();
        }
        return false;
    }
}
