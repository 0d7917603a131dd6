package dev.holdfast.cli;

import dev.holdfast.LockStatus;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * On a terminal, says who holds the lock while it is waited for: after a second, and again when another one holds it. A
 * wait that is shorter, and one that nobody watches, says nothing and asks the store nothing.
 */
final class WaitNotice implements AutoCloseable {
    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final Duration AGAIN = Duration.ofSeconds(5);

    private final Supplier<Optional<Seen>> look;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();
    private boolean isOver;

    /**
     * What to say.
     *
     * @param token of the holder
     * @param line for the terminal
     */
    record Seen(long token, String line) {
        /**
         * Of a lock that is held.
         *
         * @param countsWaiters whether the store knows how many wait
         * @param ahead how many wait ahead of this process; empty where the store does not keep the waiters' names, so that
         *     nobody knows whether it counts this process already
         */
        static Seen of(LockStatus status, String what, String holder, boolean countsWaiters, OptionalInt ahead) {
            long token = status.grant().map(LockStatus.Held::token).orElse(0L);
            String queue = countsWaiters ? "; " + queue(status.waiting() - 1, ahead) : ""; // one is this process
            return new Seen(token, "waiting for " + what + holder + queue);
        }

        private static String queue(int others, OptionalInt ahead) {
            if (others < 1) {
                return "nobody else waits";
            }
            String wait = others == 1 ? "1 other waits" : others + " others wait";
            return ahead.isPresent() ? wait + " (" + ahead.getAsInt() + " ahead)" : "about " + wait;
        }
    }

    /**
     * Begins with the wait.
     *
     * @param patience how long that may take; null is for ever
     */
    WaitNotice(Supplier<Optional<Seen>> look, @Nullable Duration patience) {
        this.look = look;
        if (patience == null || patience.compareTo(FIRST) > 0) {
            Thread thread = new Thread(this::run, "wait-notice");
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** After this nothing is said: the terminal is the command's. */
    @Override
    public void close() {
        lock.lock();
        try {
            isOver = true;
            ended.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        long told = -1;
        Duration pause = FIRST;
        while (!isOverAfter(pause) && (told >= 0 || Terminal.isAt(Terminal.STDERR))) {
            Optional<Seen> seen = look.get();
            if (seen.isPresent() && seen.get().token() != told) {
                told = seen.get().token();
                say(seen.get().line());
            }
            told = Math.max(told, 0);
            pause = AGAIN;
        }
    }

    private void say(String line) {
        lock.lock();
        try {
            if (!isOver) {
                System.err.println("holdfast: " + Redaction.ours(line));
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean isOverAfter(Duration pause) {
        lock.lock();
        try {
            long left = pause.toNanos();
            while (!isOver && left > 0) {
                left = ended.awaitNanos(left);
            }
            return isOver;
        } catch (InterruptedException e) {
            return true;
        } finally {
            lock.unlock();
        }
    }
}
