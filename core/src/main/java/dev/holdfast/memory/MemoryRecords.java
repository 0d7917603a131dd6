package dev.holdfast.memory;

import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.TimeSource;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The records of a {@link MemoryStore}. Thread-safe. */
final class MemoryRecords {
    private final TimeSource time;
    private final ReentrantLock mutex = new ReentrantLock();
    private final TreeMap<String, Kept> records = new TreeMap<>();
    /** One counter for all names, so that nothing need be kept of removed ones. */
    private long lastRevision;

    private Instant purgedAt = Instant.EPOCH;

    private record Kept(StoredRecord stored, Instant until) {}

    MemoryRecords(TimeSource time) {
        this.time = time;
    }

    RecordReading read(String name) {
        mutex.lock();
        try {
            Instant now = now();
            return new RecordReading(now, Optional.ofNullable(present(name, now)));
        } finally {
            mutex.unlock();
        }
    }

    Optional<StoredRecord> write(RecordWrite write) {
        mutex.lock();
        try {
            Instant now = now();
            purge(now);
            StoredRecord last = present(write.name(), now);
            long revision = last == null ? RecordWrite.ABSENT : last.revision();
            boolean expected = write.revision() == RecordWrite.ANY || write.revision() == revision;
            if (!expected || last != null && last.token() > write.token()) {
                return Optional.empty();
            }
            StoredRecord written = new StoredRecord(write.name(), write.token(), ++lastRevision, now, write.value());
            Instant until =
                    write.keep().isZero() ? Instant.EPOCH : now.plus(write.keep()); // removed, wherever clocks are set
            records.put(write.name(), new Kept(written, until));
            return Optional.of(written);
        } finally {
            mutex.unlock();
        }
    }

    List<StoredRecord> list(String prefix) {
        mutex.lock();
        try {
            Instant now = now();
            return records.tailMap(prefix).values().stream()
                    .takeWhile(kept -> kept.stored.name().startsWith(prefix))
                    .filter(kept -> now.isBefore(kept.until))
                    .map(Kept::stored)
                    .toList();
        } finally {
            mutex.unlock();
        }
    }

    private @Nullable StoredRecord present(String name, Instant now) {
        Kept kept = records.get(name);
        return kept == null || !now.isBefore(kept.until) ? null : kept.stored;
    }

    /** At most once a minute: it goes through all of them. */
    private void purge(Instant now) {
        if (purgedAt.isAfter(now.minusSeconds(60))) {
            return;
        }
        purgedAt = now;
        records.values().removeIf(kept -> !now.isBefore(kept.until));
    }

    private Instant now() {
        return Instant.ofEpochMilli(time.wallMillis());
    }
}
