package dev.holdfast.bench.trial;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * What a candidate said of its leadership, in a file that outlives it: for each library its runs. A run is a series of
 * answers "I lead" without a longer gap between them; of its first and its last answer it has the time before the question
 * and the time after it. One process writes, another reads.
 */
final class LeaderPage {
    /** A longer gap between two answers begins a new run: the process was stopped, or did not get a processor. */
    static final long GAP_NANOS = 50_000_000;

    private static final VarHandle NUMBERS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final int MOST_RUNS = 20_000;
    private static final int FIELDS = 4;
    private static final int BLOCK = (1 + MOST_RUNS * FIELDS) * Long.BYTES;

    private final MappedByteBuffer memory;

    LeaderPage(Path file) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) BLOCK * LeaderPeer.values().length);
        }
    }

    /**
     * A series of answers "I lead".
     *
     * @param asked before the first question
     * @param answered after its answer
     * @param lastAsked before the last question
     * @param lastAnswered after its answer
     */
    record Run(long asked, long answered, long lastAsked, long lastAnswered) {
        /** Whether an answer of the other was given, question and all, while this one surely led. */
        boolean covers(long otherAsked, long otherAnswered) {
            return answered < otherAsked && otherAnswered < lastAsked;
        }

        /** Whether both led at the same time, for certain. */
        boolean overlaps(Run other) {
            boolean bothLong = Math.max(answered, other.answered) < Math.min(lastAsked, other.lastAsked);
            return bothLong
                    || covers(other.asked, other.answered)
                    || other.covers(asked, answered)
                    || covers(other.lastAsked, other.lastAnswered)
                    || other.covers(lastAsked, lastAnswered);
        }

        long overlapNanos(Run other) {
            return Math.max(0, Math.min(lastAsked, other.lastAsked) - Math.max(answered, other.answered));
        }
    }

    /** Notes an answer "I lead". */
    void leads(LeaderPeer peer, boolean begins, long asked, long answered) {
        int runs = count(peer);
        if (begins) {
            if (runs == MOST_RUNS) {
                throw new IllegalStateException("more than " + MOST_RUNS + " runs of " + peer);
            }
            set(peer, runs, 0, asked);
            set(peer, runs, 1, answered);
        }
        int run = begins ? runs : runs - 1;
        set(peer, run, 2, asked);
        set(peer, run, 3, answered);
        if (begins) {
            NUMBERS.setVolatile(memory, block(peer), runs + 1L);
        }
    }

    /** All runs so far. */
    List<Run> runs(LeaderPeer peer) {
        List<Run> runs = new ArrayList<>();
        for (int run = 0; run < count(peer); run++) {
            runs.add(new Run(get(peer, run, 0), get(peer, run, 1), get(peer, run, 2), get(peer, run, 3)));
        }
        return runs;
    }

    /** When it was last known to lead; long ago if never. */
    long lastLed(LeaderPeer peer) {
        int runs = count(peer);
        return runs == 0 ? Long.MIN_VALUE : get(peer, runs - 1, 3);
    }

    /** Where the runs of a library begin. */
    private static int block(LeaderPeer peer) {
        return List.of(LeaderPeer.values()).indexOf(peer) * BLOCK;
    }

    private int count(LeaderPeer peer) {
        return (int) (long) NUMBERS.getVolatile(memory, block(peer));
    }

    private long get(LeaderPeer peer, int run, int field) {
        return (long) NUMBERS.getVolatile(memory, at(peer, run, field));
    }

    private void set(LeaderPeer peer, int run, int field, long value) {
        NUMBERS.setVolatile(memory, at(peer, run, field), value);
    }

    private static int at(LeaderPeer peer, int run, int field) {
        return block(peer) + (1 + run * FIELDS + field) * Long.BYTES;
    }
}
