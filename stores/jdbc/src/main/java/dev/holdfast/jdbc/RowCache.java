package dev.holdfast.jdbc;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The rows of locks that this client holds alone, as it left them. The next step begins from there without reading, and
 * is written only if nobody has changed the row.
 *
 * <p>The database's clock has gone on meanwhile, by no more than passed here since before the row was asked for: so much
 * is added, for what is granted by the step is written with its end.
 *
 * <p>For one thread.
 */
final class RowCache {
    private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int MOST = 1024;

    private final Map<String, Remembered> rows = new HashMap<>();

    /**
     * Keeps a row.
     *
     * @param asked when it was asked for: {@link System#nanoTime()} before the statement that read the database's clock
     */
    void remember(String name, RowSnapshot row, long asked) {
        if (rows.size() >= MOST) {
            rows.clear(); // most of them are too old to be of use
        }
        rows.put(name, new Remembered(row, asked));
    }

    void forget(String name) {
        rows.remove(name);
    }

    /** The row with the clock of now, if it is not long ago and somebody waited: otherwise nothing need be known. */
    @Nullable
    RowSnapshot recallContended(String name) {
        Remembered known = rows.get(name);
        if (known == null) {
            return null;
        }
        long passed = System.nanoTime() - known.asked;
        if (passed > FRESH_NANOS) {
            forget(name);
            return null;
        }
        return known.row.state().waiting().isEmpty()
                ? null
                : known.row.later(TimeUnit.NANOSECONDS.toMicros(passed) + 1);
    }

    private record Remembered(RowSnapshot row, long asked) {}
}
