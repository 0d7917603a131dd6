package dev.holdfast.spring;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * Annotated calls that hold a lock, run or lead now, or wait for a lock: it may be handed over to them when another call
 * ends. The end of the application waits for them, within the time of one phase, before candidacies end and the lock
 * clients close: also for those on threads that Spring does not drain, such as virtual threads. It does not wait for calls
 * whose threads wait for it: those that end the application or the JVM.
 */
final class CallsInProgress implements SmartLifecycle {
    /** After everything that Spring drains, directly before candidacies end and the lock clients close. */
    private static final int PHASE = 3;

    private final Map<Call, Thread> callers = new ConcurrentHashMap<>();
    private final LongAdder begun = new LongAdder();
    private final LongAdder ended = new LongAdder();
    private final AtomicReference<@Nullable Runnable> waiting = new AtomicReference<>();
    private volatile long waitingForTheEnd;
    private volatile boolean running;

    /** A call. */
    interface Call {
        @Nullable
        Object run() throws Throwable;
    }

    /** Runs a call, which is in progress until it returns. */
    @Nullable
    Object untilReturn(Call call) throws Throwable {
        begin();
        try {
            callers.put(call, Thread.currentThread());
            return call.run();
        } finally {
            callers.remove(call);
            end();
        }
    }

    void begin() {
        begun.increment();
    }

    void end() {
        ended.increment();
        if (waiting.get() != null) {
            tellIfNone();
        }
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop(Runnable done) {
        running = false;
        waitingForTheEnd = callers.values().stream()
                .filter(caller -> caller == Thread.currentThread() || isExiting(caller))
                .count();
        waiting.set(done);
        tellIfNone();
    }

    @Override
    public void stop() {
        running = false;
    }

    private static boolean isExiting(Thread caller) {
        return Arrays.stream(caller.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals("java.lang.Shutdown"));
    }

    private void tellIfNone() {
        // ended is read first: a call that is counted there was counted at its beginning before
        if (ended.sum() + waitingForTheEnd >= begun.sum()) {
            Runnable done = waiting.getAndSet(null);
            if (done != null) {
                done.run();
            }
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
