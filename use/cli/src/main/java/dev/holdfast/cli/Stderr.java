package dev.holdfast.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Standard error that may have no reader: a full pipe, a terminal after Ctrl-S. A write to it may never return. So one
 * thread writes, and all others wait for their line only for a short time. While that thread is blocked, no other thread
 * waits again.
 *
 * <pre>
 *   any thread ──line──► queue ──► writer ──► stderr
 * </pre>
 *
 * <p>Without this class, a blocked message about a lost hold would keep alive the command that must be stopped. When the
 * queue is full, the oldest line that is not being written is dropped, because the last lines report the outcome.
 * Thread-safe.
 */
final class Stderr extends OutputStream {
    private static final Duration PATIENCE = Duration.ofMillis(250);
    /** At the end no other work waits, and the reader may be a pager, or a terminal before Ctrl-Q. */
    private static final Duration LAST_PATIENCE = Duration.ofSeconds(5);

    private static final int LONGEST_QUEUE = 256;

    private final OutputStream out;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<byte[]> queue = new ArrayDeque<>();
    private boolean isStuck;

    /** In front of a stream whose writes may never return. */
    Stderr(OutputStream out) {
        this.out = out;
        Thread writer = new Thread(this::writeAll, "stderr");
        writer.setDaemon(true);
        writer.start();
    }

    /** Replaces {@link System#err}; empty at the limit of threads, where the original stream stays. */
    static Optional<Stderr> install() {
        try {
            Stderr stderr = new Stderr(new FileOutputStream(FileDescriptor.err));
            System.setErr(new PrintStream(stderr, false, charset()));
            return Optional.of(stderr);
        } catch (OutOfMemoryError e) {
            return Optional.empty();
        }
    }

    /** The charset of the original stream: Java has no method for it before version 18. */
    private static Charset charset() {
        String name = System.getProperty("stderr.encoding", System.getProperty("sun.stderr.encoding"));
        return name != null && Charset.isSupported(name) ? Charset.forName(name) : Charset.defaultCharset();
    }

    @Override
    public void write(int character) {
        write(new byte[] {(byte) character}, 0, 1);
    }

    /** A {@link PrintStream} hands over whole lines. */
    @Override
    public void write(byte[] bytes, int offset, int length) {
        lock.lock();
        try {
            if (queue.size() == LONGEST_QUEUE) {
                byte[] beingWritten = queue.remove();
                queue.remove();
                queue.addFirst(beingWritten);
            }
            queue.add(Arrays.copyOfRange(bytes, offset, offset + length));
            changed.signalAll();
            if (!isStuck) {
                awaitEmptyQueue(PATIENCE);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the queued lines at the end of the program. Later lines are written as before. */
    @Override
    public void close() {
        lock.lock();
        try {
            awaitEmptyQueue(LAST_PATIENCE);
        } finally {
            lock.unlock();
        }
    }

    private void awaitEmptyQueue(Duration patience) {
        boolean interrupted = false;
        long begin = System.nanoTime();
        long left = patience.toNanos();
        while (!queue.isEmpty() && left > 0) {
            try {
                changed.await(left, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                interrupted = true; // by a signal, and for others
            }
            left = patience.toNanos() - (System.nanoTime() - begin);
        }
        isStuck = !queue.isEmpty();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void writeAll() {
        while (true) {
            try {
                out.write(next());
            } catch (IOException e) {
                // its reader is gone
            }
            remove();
        }
    }

    private byte[] next() {
        lock.lock();
        try {
            while (queue.isEmpty()) {
                changed.awaitUninterruptibly();
            }
            return queue.element();
        } finally {
            lock.unlock();
        }
    }

    private void remove() {
        lock.lock();
        try {
            queue.remove();
            isStuck = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
