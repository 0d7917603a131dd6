package dev.holdfast.bench.run;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A few numbers that all worker processes see, in a file mapped into their memory: what a lock under measurement
 * protects, and what betrays it when it does not.
 *
 * <p>The counter is read when a hold begins and written, one higher, when it ends; nothing but the lock keeps two holders
 * from reading the same number, and then an update is lost. Thread-safe as far as that.
 */
public final class SharedPage {
    private static final VarHandle NUMBERS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final int CACHE_LINE = 64;
    private static final int COUNTER = 0;
    private static final int INSIDE = CACHE_LINE;
    private static final int RELEASED_AT = 2 * CACHE_LINE;
    private static final int RELEASED_BY = 3 * CACHE_LINE;
    /** Where the holder counts of the many names begin. */
    private static final int OF_NAMES = 4096;

    private static final int SIZE = OF_NAMES + Names.MANY * Long.BYTES;

    private final MappedByteBuffer memory;

    /** Maps the file, made when it is not there. */
    public SharedPage(Path file) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, SIZE);
        }
    }

    /** The unprotected counter. */
    public long counter() {
        return (long) NUMBERS.getVolatile(memory, COUNTER);
    }

    /** Writes the unprotected counter. */
    public void counter(long value) {
        NUMBERS.setVolatile(memory, COUNTER, value);
    }

    /** Counts one more holder in; returns how many there are with it. */
    long enter() {
        return (long) NUMBERS.getAndAdd(memory, INSIDE, 1L) + 1;
    }

    /** Counts it out. */
    void leave() {
        NUMBERS.getAndAdd(memory, INSIDE, -1L);
    }

    /** The same for one of many names. */
    long enter(int name) {
        return (long) NUMBERS.getAndAdd(memory, OF_NAMES + name * Long.BYTES, 1L) + 1;
    }

    /** The same for one of many names. */
    void leave(int name) {
        NUMBERS.getAndAdd(memory, OF_NAMES + name * Long.BYTES, -1L);
    }

    /** Before a round, when nobody holds anything: a worker that died has not counted itself out. */
    void nobodyHolds() {
        NUMBERS.setVolatile(memory, INSIDE, 0L);
        for (int name = 0; name < Names.MANY; name++) {
            NUMBERS.setVolatile(memory, OF_NAMES + name * Long.BYTES, 0L);
        }
    }

    /** Notes who gives the lock back, and that it is now; {@link System#nanoTime} is one for all processes on Linux. */
    void releasing(int worker) {
        NUMBERS.setVolatile(memory, RELEASED_BY, (long) worker);
        NUMBERS.setVolatile(memory, RELEASED_AT, System.nanoTime());
    }

    long releasedAt() {
        return (long) NUMBERS.getVolatile(memory, RELEASED_AT);
    }

    int releasedBy() {
        return (int) (long) NUMBERS.getVolatile(memory, RELEASED_BY);
    }
}
