package dev.holdfast.testbed;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/** Everything a child said and was told, in the order in which it was seen here. */
final class Transcript {
    private static final int SHOWN = 400;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final List<Line> lines = new ArrayList<>();
    private int openSources;

    /** Where a line came from. */
    enum Source {
        OUT,
        ERR,
        IN
    }

    private record Line(Source source, String text) {}

    /** What a search found, and where the next search starts. */
    record Found<T>(T value, int next) {}

    void opened() {
        change(() -> openSources++);
    }

    void add(Source source, String text) {
        change(() -> lines.add(new Line(source, text)));
    }

    void ended() {
        change(() -> openSources--);
    }

    List<String> of(Source source) {
        lock.lock();
        try {
            return lines.stream()
                    .filter(line -> line.source == source)
                    .map(Line::text)
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    /** Awaits a line of the source, at or after {@code from}; gives up early when nothing more can come. */
    <T> Optional<Found<T>> await(Source source, int from, Function<String, Optional<T>> wanted, Duration patience) {
        long remaining = patience.toNanos();
        lock.lock();
        try {
            int next = from;
            while (true) {
                for (; next < lines.size(); next++) {
                    Line line = lines.get(next);
                    Optional<T> value = line.source == source ? wanted.apply(line.text) : Optional.empty();
                    if (value.isPresent()) {
                        return Optional.of(new Found<>(value.get(), next + 1));
                    }
                }
                if (openSources == 0 || remaining <= 0) {
                    return Optional.empty();
                }
                remaining = awaitChange(remaining);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Awaits the end of all that the child writes. */
    void awaitEnd(Duration patience) {
        long remaining = patience.toNanos();
        lock.lock();
        try {
            while (openSources > 0 && remaining > 0) {
                remaining = awaitChange(remaining);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        lock.lock();
        try {
            StringBuilder text = new StringBuilder();
            int first = Math.max(0, lines.size() - SHOWN);
            if (first > 0) {
                text.append("  (").append(first).append(" earlier lines left out)\n");
            }
            for (Line line : lines.subList(first, lines.size())) {
                text.append("  ")
                        .append(line.source)
                        .append(" | ")
                        .append(line.text)
                        .append('\n');
            }
            return text.isEmpty() ? "  (nothing)\n" : text.toString();
        } finally {
            lock.unlock();
        }
    }

    @SuppressWarnings("WaitNotInLoop") // its callers loop
    private long awaitChange(long nanos) {
        try {
            return changed.awaitNanos(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while awaiting output of a child; so far:\n" + this, e);
        }
    }

    private void change(Runnable change) {
        lock.lock();
        try {
            change.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
