package dev.holdfast.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The one thread that does the work of a proxy; another only wakes it when a delay ends. All its state belongs to this
 * thread: sockets that are ready and commands of tests run here one after the other, so when a command returns, its effect
 * is complete and no byte slips past it.
 *
 * <pre>
 *   select ──► handle ready sockets ──► run commands ──► pass what is due ──┐
 *     ▲                                                                     │
 *     └───────────── until a socket is ready, a command comes, a delay ends ┘
 * </pre>
 */
final class ProxyLoop {
    /** What a socket does when it is ready. */
    interface Ready {
        void handle(SelectionKey key) throws IOException;
    }

    private record Command<T>(Supplier<T> action, CompletableFuture<T> result) {
        /** Runs it now, and tells how to report its result later. */
        Runnable run() {
            try {
                T value = action.get();
                return () -> result.complete(value);
            } catch (RuntimeException | Error e) {
                return () -> result.completeExceptionally(e);
            }
        }
    }

    private final Selector selector;
    private final Thread thread;
    private final ScheduledThreadPoolExecutor alarms;
    private @Nullable ScheduledFuture<?> alarm;
    private final LongUnaryOperator passDue;
    private final Queue<Command<?>> commands = new ConcurrentLinkedQueue<>();
    private volatile boolean closing;
    private volatile boolean ended;
    private volatile @Nullable Throwable cause;

    /**
     * Makes the loop; {@link #start} runs it.
     *
     * @param passDue passes all that is due at the nanosecond given, and returns how many nanoseconds later the next is
     *     due, or {@link Long#MAX_VALUE}
     */
    ProxyLoop(String name, LongUnaryOperator passDue) {
        this.passDue = passDue;
        try {
            this.selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot open a selector", e);
        }
        this.thread = daemon(this::run, name);
        this.alarms = new ScheduledThreadPoolExecutor(1, task -> daemon(task, name + "-alarm"));
        this.alarms.setRemoveOnCancelPolicy(true);
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    void start() {
        thread.start();
    }

    /** Watches a channel; on the loop's thread, or before it starts. */
    SelectionKey register(SelectableChannel channel, int operations, Ready ready) throws IOException {
        channel.configureBlocking(false);
        return channel.register(selector, operations, ready);
    }

    /** Makes the closing of channels take effect: the JDK puts it off until the next selection. On the loop's thread. */
    void finishClosing() {
        try {
            selector.selectNow();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot finish closing sockets", e);
        }
    }

    /**
     * Runs a command on the loop's thread and returns when it has taken effect.
     *
     * @throws IllegalStateException when the proxy is closed
     */
    <T> T call(Supplier<T> action) {
        if (Thread.currentThread() == thread) {
            return action.get();
        }
        Command<T> command = new Command<>(action, new CompletableFuture<>());
        commands.add(command);
        selector.wakeup();
        if (ended) {
            // It may have been added after the loop looked for the last time.
            command.result.completeExceptionally(closed());
        }
        try {
            // The loop answers within milliseconds, unless a matcher of a test blocks it: then say so, and do not hang.
            return command.result.orTimeout(30, TimeUnit.SECONDS).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw e;
        }
    }

    void run(Runnable action) {
        call(() -> {
            action.run();
            return Boolean.TRUE;
        });
    }

    /** Ends the loop and closes every channel it watches. */
    void close() {
        closing = true;
        selector.wakeup();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            long wait = Long.MAX_VALUE;
            while (!closing) {
                // finishClosing() may have eaten the wake-up of a command that came since the commands were run.
                select(commands.isEmpty() ? wait : 0);
                handleReady();
                List<Runnable> reports = runCommands();
                wait = passDue.applyAsLong(System.nanoTime());
                finishClosing();
                reports.forEach(Runnable::run);
            }
        } catch (IOException | RuntimeException | Error e) {
            cause = e;
        } finally {
            end();
        }
    }

    private void select(long waitNanos) throws IOException {
        if (waitNanos == Long.MAX_VALUE) {
            selector.select();
        } else if (waitNanos <= 0) {
            selector.selectNow();
        } else {
            wakeIn(waitNanos);
            selector.select();
        }
    }

    /** Wakes the selector, whose own time limit is in whole milliseconds: too coarse for a delay of a quarter of one. */
    private void wakeIn(long nanos) {
        if (alarm != null) {
            long left = alarm.getDelay(TimeUnit.NANOSECONDS);
            // One that is due already does not count: finishClosing() may have eaten its wake-up.
            if (left > 0 && left <= nanos) {
                return;
            }
            alarm.cancel(false);
        }
        alarm = alarms.schedule(selector::wakeup, nanos, TimeUnit.NANOSECONDS);
    }

    private void handleReady() throws IOException {
        List<SelectionKey> ready = new ArrayList<>(selector.selectedKeys());
        selector.selectedKeys().clear();
        for (SelectionKey key : ready) {
            if (key.isValid() && key.attachment() instanceof Ready handler) {
                handler.handle(key);
            }
        }
    }

    private List<Runnable> runCommands() {
        List<Runnable> reports = new ArrayList<>();
        for (Command<?> command = commands.poll(); command != null; command = commands.poll()) {
            reports.add(command.run());
        }
        return reports;
    }

    private void end() {
        alarms.shutdownNow();
        try {
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
            selector.close();
        } catch (IOException e) {
            cause = e;
        }
        ended = true;
        for (Command<?> command = commands.poll(); command != null; command = commands.poll()) {
            command.result.completeExceptionally(closed());
        }
    }

    private IllegalStateException closed() {
        return new IllegalStateException("the proxy is closed", cause);
    }
}
