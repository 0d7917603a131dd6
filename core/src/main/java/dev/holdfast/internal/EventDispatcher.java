package dev.holdfast.internal;

import dev.holdfast.LockEvent;
import dev.holdfast.LockListener;
import dev.holdfast.Loss;
import dev.holdfast.spi.Redacted;
import dev.holdfast.spi.support.DaemonThreads;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Notifies listeners, one call after another, on the application's executor or on a thread of its own that exists while
 * there are events to report: a slow listener delays other listeners, never a lock. Events that the executor refuses
 * are reported on that thread.
 *
 * <p>An event is passed on in two steps. {@link #note} puts the event into a queue and does nothing else, so that it may be called
 * under a local lock's mutex, where the order of events is decided. {@link #hurry} then, outside of it, ensures that a
 * thread empties the queue. The number of waiting events is bounded: of more than {@link #MOST} events that wait, the
 * later ones are dropped and counted, losses excepted. Thread-safe.
 */
final class EventDispatcher implements AutoCloseable {
    /** How many events may wait for their listeners. */
    static final int MOST = 10_000;

    private static final long IDLE_SECONDS = 10;

    /** One event for one listener. */
    private record Note(Object event, Object listener, Runnable call) {
        /** One for each hold at most, and a holder waits for it. */
        boolean isNeverDropped() {
            return event instanceof Loss || event instanceof Wanted;
        }

        /** Its kind and its lock, for messages. */
        String kind() {
            String kind = event.getClass().getSimpleName();
            return event instanceof LockEvent of
                    ? kind + " of '" + of.name() + "'"
                    : event instanceof Wanted lock ? kind + " of '" + lock.name + "'" : kind;
        }
    }

    /** Others wait for a lock that is held here. */
    private record Wanted(String name) {}

    private final CopyOnWriteArrayList<LockListener> listeners;
    private final List<Executor> executors;
    private final ThreadPoolExecutor own;
    private final Consumer<Runnable> later;
    private final String store;
    /** Counts the events that no listener received. */
    final LongAdder dropped = new LongAdder();

    private final Queue<Note> notes = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicBoolean delivering = new AtomicBoolean();
    private final AtomicBoolean full = new AtomicBoolean();
    private final AtomicBoolean reportedFull = new AtomicBoolean();

    /**
     * Nothing is reported yet.
     *
     * @param chosen where listeners run; null for the own thread
     * @param threadName the own thread's
     * @param later runs its argument in a while
     * @param store where the locks live, for messages
     */
    EventDispatcher(
            List<LockListener> listeners,
            @Nullable Executor chosen,
            String threadName,
            Consumer<Runnable> later,
            String store) {
        this.listeners = new CopyOnWriteArrayList<>(listeners);
        ThreadFactory daemons = task -> DaemonThreads.daemon(threadName, task);
        this.own = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), daemons);
        own.allowCoreThreadTimeOut(true);
        this.executors = chosen == null ? List.of(own) : List.of(chosen, own);
        this.later = later;
        this.store = store;
    }

    /** Adds a listener, unless it is one already. */
    void add(LockListener listener) {
        listeners.addIfAbsent(listener);
    }

    boolean hasListeners() {
        return !listeners.isEmpty();
    }

    /** Notes an event of a lock or of the store for every listener of the client; {@link #hurry} delivers it. */
    <E> void note(E event, BiConsumer<LockListener, E> method) {
        for (LockListener listener : listeners) {
            note(new Note(event, listener, () -> method.accept(listener, event)));
        }
    }

    /** Notes a loss for the caller that registered the action; {@link #hurry} runs it. */
    void note(Loss loss, Consumer<Loss> action) {
        note(new Note(loss, action, () -> action.accept(loss)));
    }

    /** Notes that others wait for a lock, for the caller that registered the action; {@link #hurry} runs it. */
    void noteWanted(String name, Runnable action) {
        note(new Note(new Wanted(name), action, action));
    }

    private void note(Note note) {
        if (waiting.incrementAndGet() > MOST && !note.isNeverDropped()) {
            waiting.decrementAndGet();
            dropped.increment();
            full.set(true);
        } else {
            notes.add(note);
        }
    }

    /** Passes on what was noted. Never called under a mutex of the engine; never throws. */
    void hurry() {
        if (full.get() && reportedFull.compareAndSet(false, true)) {
            Log.warn(() -> "the lock listeners of the client of " + store + " are too slow: " + MOST
                    + " events wait to be delivered, the first is " + first()
                    + "; until the listeners catch up, further"
                    + " events are dropped, except losses; make the listeners faster, or have them pass their work to"
                    + " other threads");
        }
        if (notes.isEmpty() || !delivering.compareAndSet(false, true)) {
            return;
        }
        start();
    }

    private void start() {
        AtomicBoolean begun = new AtomicBoolean();
        Runnable once = () -> {
            if (begun.compareAndSet(false, true)) {
                deliverAll();
            }
        };
        for (Executor each : executors) {
            try {
                each.execute(once);
                return;
            } catch (Throwable refused) {
                // full, closed, or without a thread: that must leave no lock between two states
            }
        }
        if (begun.compareAndSet(false, true)) { // otherwise one of them ran it before it threw
            if (own.isShutdown()) {
                delivering.set(false);
                giveUp();
            } else {
                startLater();
            }
        }
    }

    private void startLater() {
        try {
            later.accept(this::start);
        } catch (Throwable noThread) { // of the timer: the next event tries again
            delivering.set(false);
        }
    }

    private void deliverAll() {
        try {
            for (Note note = notes.poll(); note != null; note = notes.poll()) {
                waiting.decrementAndGet();
                deliver(note);
            }
            full.set(false);
            reportedFull.set(false);
        } finally {
            delivering.set(false);
            hurry(); // events that came meanwhile
        }
    }

    private void deliver(Note note) {
        try {
            note.call.run();
        } catch (Throwable thrown) {
            Log.warn(() -> "the lock listener " + note.listener.getClass().getName() + " threw "
                    + thrown.getClass().getName() + " when notified of " + note.kind() + " on " + store
                    + "; locks and other listeners are not affected: correct this one: " + Redacted.text(thrown));
        }
    }

    private void giveUp() {
        Note first = notes.poll();
        if (first == null) {
            return;
        }
        int undelivered = 1;
        while (notes.poll() != null) {
            undelivered++;
        }
        waiting.addAndGet(-undelivered);
        dropped.add(undelivered);
        int count = undelivered;
        Log.warn(() -> count + " event(s) of locks on " + store + " could not be reported to listeners, first "
                + first.kind()
                + ", because the client is closed; close holds before their client");
    }

    private String first() {
        Note first = notes.peek();
        return first == null ? "none" : first.kind();
    }

    /** Ends once all events noted so far have been passed on. */
    @Override
    public void close() {
        own.shutdown();
    }
}
