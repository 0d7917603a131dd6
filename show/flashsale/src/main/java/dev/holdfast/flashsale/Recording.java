package dev.holdfast.flashsale;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/** What the page has shown since the sale was opened, with its times. Thread-safe. */
final class Recording {
    private static final int MOST = 1_200; // two minutes

    private final List<Frame> frames = new ArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private long started;

    private record Frame(long millis, String figures) {}

    /** Forgets what there is, and begins again. */
    void restart() {
        lock.lock();
        try {
            frames.clear();
            started = System.nanoTime();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds figures, as JSON, if they are new; a sale that goes on for longer than two minutes is kept up to there.
     *
     * @param since when they began to be read: those of before the sale was opened are of another
     */
    void add(long since, String figures) {
        lock.lock();
        try {
            boolean isNew =
                    frames.isEmpty() || !frames.get(frames.size() - 1).figures().equals(figures);
            if (isNew && since - started >= 0 && frames.size() < MOST) {
                frames.add(new Frame((System.nanoTime() - started) / 1_000_000, figures));
            }
        } finally {
            lock.unlock();
        }
    }

    /** All of it as JSON: {@code [{"at": milliseconds, "figures": {...}}, ...]}. */
    String json() {
        lock.lock();
        try {
            return frames.stream()
                    .map(frame -> "{\"at\":" + frame.millis() + ",\"figures\":" + frame.figures() + "}")
                    .collect(Collectors.joining(",\n", "[", "]"));
        } finally {
            lock.unlock();
        }
    }
}
