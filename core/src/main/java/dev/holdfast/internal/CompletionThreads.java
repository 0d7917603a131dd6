package dev.holdfast.internal;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The client's own threads, on which futures complete: by default, and where the caller's executor fails. A task that
 * blocks keeps no other from running, and no task needs a thread that others can block.
 *
 * <pre>
 *   a few threads are busy at most ──► a thread that is idle, or a new one
 *   more tasks wait ─────────────────► a further thread each 5 ms in which none of them has taken a task
 *   {@link #MOST} are busy ────────────────► from Java 21 on, a virtual thread; before, a warning: the task waits
 * </pre>
 *
 * <p>So short tasks, however many, share a few threads. Virtual threads come last because the application's own ones can
 * keep their carriers busy or pinned. Threads are daemons, and end when idle. Thread-safe.
 */
final class CompletionThreads implements Executor, AutoCloseable {
    /** How many threads of the system there are at most. */
    static final int MOST = 256;

    /** How many are started at once. */
    private static final int FEW = Math.max(4, Runtime.getRuntime().availableProcessors());

    private static final int DEEPEST = 16;
    private static final long IDLE_SECONDS = 10;
    private static final @Nullable MethodHandle START_VIRTUAL = startVirtual();

    /** How many executors run a task for this thread, each within a task of the one before. */
    private static final ThreadLocal<Integer> NESTED = new ThreadLocal<>();

    private final ThreadPoolExecutor threads;
    private final Consumer<Runnable> later;
    private final String store;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger busy = new AtomicInteger();
    private final AtomicLong taken = new AtomicLong();
    private final AtomicBoolean watched = new AtomicBoolean();
    private final AtomicBoolean reportedFull = new AtomicBoolean();
    private volatile boolean closed;

    /**
     * Threads that do not exist yet.
     *
     * @param later runs its argument after some milliseconds
     * @param store where the locks live, for messages
     */
    CompletionThreads(String threadName, Consumer<Runnable> later, String store) {
        this.later = later;
        this.store = store;
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        threads = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread = new Thread(null, task, threadName, 0, false);
                    thread.setDaemon(true);
                    thread.setContextClassLoader(loader); // a store's thread starts it
                    return thread;
                });
    }

    /**
     * Runs a task on an executor of the caller, or here if that fails. A task that comes within many others comes here
     * too: an executor that runs its tasks on the calling thread would run each within the one before, until the stack
     * ends.
     *
     * @param task may be run twice, if the executor fails after it has run it
     */
    void execute(Executor chosen, Runnable task) {
        Integer outer = NESTED.get();
        int depth = outer == null ? 0 : outer;
        if (chosen != this && depth < DEEPEST) {
            NESTED.set(depth + 1);
            try {
                chosen.execute(task);
                return;
            } catch (Throwable refused) {
                // Also an Error, such as of no more threads: the caller must receive the outcome. It runs not on this
                // thread: this thread released the lock, and the next callback would release it again.
            } finally {
                if (outer == null) {
                    NESTED.remove();
                } else {
                    NESTED.set(outer);
                }
            }
        }
        execute(task);
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        start();
    }

    /** Has what waits taken: at once while few threads are busy, and else if those do not get to it. */
    private void start() {
        if (tasks.isEmpty()) {
            return;
        }
        if (closed || busy.get() < FEW) {
            startOne();
        } else if (watched.compareAndSet(false, true)) {
            long before = taken.get();
            try {
                later.accept(() -> {
                    watched.set(false);
                    if (taken.get() == before) {
                        startOne();
                    }
                    start();
                });
            } catch (Throwable noTimer) {
                watched.set(false);
                startOne();
            }
        }
    }

    /** Has one more thread take what waits: a virtual one where there are as many others as there may be. */
    private void startOne() {
        int now = busy.get();
        while (now < MOST && !tasks.isEmpty()) {
            if (busy.compareAndSet(now, now + 1)) {
                try {
                    threads.execute(this::runAll);
                } catch (Throwable noThread) { // a thread that is busy now takes the task, or the next attempt does
                    busy.decrementAndGet();
                    startLater();
                }
                return;
            }
            now = busy.get();
        }
        if (!tasks.isEmpty() && !startedVirtual(this::runOne) && reportedFull.compareAndSet(false, true)) {
            Log.warn(() -> MOST + " callbacks of futures of the client of " + store
                    + " run or block at once, so that the outcomes of further ones wait until one returns; pass work that"
                    + " blocks to threads of your own, or set an executor for this client");
        }
    }

    private void startLater() {
        try {
            later.accept(this::start);
        } catch (Throwable noThread) {
            // of the timer: the next outcome tries again
        }
    }

    private void runAll() {
        try {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                taken.incrementAndGet();
                task.run();
            }
            reportedFull.set(false);
        } finally {
            busy.decrementAndGet();
            start(); // what came after the last check
        }
    }

    private void runOne() {
        Runnable task = tasks.poll();
        if (task != null) {
            taken.incrementAndGet();
            task.run();
        }
    }

    private static boolean startedVirtual(Runnable task) {
        if (START_VIRTUAL == null) {
            return false;
        }
        try {
            Thread unused = (Thread) START_VIRTUAL.invokeExact(task);
            return true;
        } catch (Throwable noThread) {
            return false;
        }
    }

    private static @Nullable MethodHandle startVirtual() {
        try {
            return MethodHandles.publicLookup()
                    .findStatic(
                            Thread.class, "startVirtualThread", MethodType.methodType(Thread.class, Runnable.class));
        } catch (ReflectiveOperationException unknown) { // before Java 21
            return null;
        }
    }

    /** Idle threads end now, others after their task. Outcomes that come later are still passed on. */
    @Override
    public void close() {
        closed = true; // the timer ends
        threads.setKeepAliveTime(0, TimeUnit.SECONDS);
        for (int waiting = tasks.size(); waiting > 0; waiting--) {
            startOne();
        }
        while (busy.get() == 0 && !tasks.isEmpty()) {
            runOne(); // no thread could be had, and the timer that would try again ends
        }
    }
}
