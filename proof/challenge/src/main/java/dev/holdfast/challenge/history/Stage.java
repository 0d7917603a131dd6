package dev.holdfast.challenge.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Memory that all workers of a store and their controller share: the resources that the locks protect, and what the
 * controller wants. Thread-safe.
 *
 * <p>A worker that is <b>pinned</b> stays in its next hold of each lock until it is unpinned; until it holds, the others
 * begin no new turn, so that it gets there. While workers are <b>barred</b>, none
 * begins a turn, but one that is admitted.
 */
public final class Stage {
    /** How many locks may be under attack at once. */
    public static final int MOST_LANES = 128;

    private static final VarHandle NUMBERS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final int LINE = 64;
    private static final int PINNED = 0;
    private static final int ADMITTED = LINE;
    private static final long NOBODY = -1;
    private static final int LANES = 2 * LINE;
    private static final int LANE = 2 * LINE;

    private final MappedByteBuffer memory;

    /** Maps the file, made when it is not there. */
    public Stage(Path file) {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, LANES + (long) MOST_LANES * LANE);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot map " + file, e);
        }
    }

    /** Pins a worker, by its number. */
    public void pin(int worker) {
        for (int lane = 0; lane < MOST_LANES; lane++) {
            lane(lane).arrived(false);
        }
        set(PINNED, worker);
    }

    /** Lets it go. */
    public void unpin() {
        set(PINNED, 0);
    }

    /** Bars all workers. */
    public void bar() {
        set(ADMITTED, NOBODY);
    }

    /** Lets one of them go on, by its number. */
    public void admit(int worker) {
        set(ADMITTED, worker);
    }

    /** Lets all go on. */
    public void admitAll() {
        set(ADMITTED, 0);
    }

    /** Whether some worker is to stay where it holds. */
    public boolean isAnyonePinned() {
        return get(PINNED) != 0;
    }

    /** Whether this worker is to stay where it holds. */
    public boolean isPinned(int worker) {
        return get(PINNED) == worker;
    }

    /** Whether this worker may begin a turn at this lock. */
    public boolean mayBegin(int worker, Lane lane) {
        long pinned = get(PINNED);
        long admitted = get(ADMITTED);
        return (admitted == 0 || admitted == worker) && (pinned == 0 || pinned == worker || lane.hasArrived());
    }

    /** One lock and what it protects. */
    public Lane lane(int number) {
        return new Lane(LANES + number * LANE);
    }

    private long get(int at) {
        return (long) NUMBERS.getVolatile(memory, at);
    }

    private void set(int at, long value) {
        NUMBERS.setVolatile(memory, at, value);
    }

    /** One lock's part of the memory. */
    public final class Lane {
        private static final int VALUE = 0;
        private static final int FENCED = Long.BYTES;
        private static final int ARRIVED = LINE;

        private final int at;

        private Lane(int at) {
            this.at = at;
        }

        /** As it is before the first turn. */
        public void clear() {
            value(0);
            set(at + FENCED, 0);
            arrived(false);
        }

        /** The plain register, which takes whatever is written. */
        public long value() {
            return get(at + VALUE);
        }

        /** Writes it. */
        public void value(long value) {
            set(at + VALUE, value);
        }

        /** The register that is guarded by tokens. */
        public long fenced() {
            return get(at + FENCED);
        }

        /** Writes it if it has not changed. */
        public boolean fenced(long expected, long value) {
            return NUMBERS.compareAndSet(memory, at + FENCED, expected, value);
        }

        /** The pinned worker holds this lock. */
        public void arrived(boolean arrived) {
            set(at + ARRIVED, arrived ? 1 : 0);
        }

        /** Whether it does. */
        public boolean hasArrived() {
            return get(at + ARRIVED) != 0;
        }
    }
}
