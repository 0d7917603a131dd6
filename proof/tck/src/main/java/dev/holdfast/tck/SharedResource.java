package dev.holdfast.tck;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;

/**
 * A file that processes share as memory: a counter that is nowhere protected by itself, the highest token of a writer, an
 * "occupied by" word, which tells of two inside at once without any clock, and how many readers and permits are inside.
 */
final class SharedResource {
    private static final int SIZE = 40;
    private static final int OCCUPANT = 0;
    private static final int COUNTER = 8;
    private static final int TOKEN = 16;
    private static final int READERS = 24;
    private static final int PERMITS = 32;
    private static final VarHandle WORD = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer memory;

    SharedResource(Path path) throws IOException {
        try (FileChannel file =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = file.map(MapMode.READ_WRITE, 0, SIZE).order(ByteOrder.nativeOrder());
        }
    }

    /**
     * Goes through it once, alone: read, change, write.
     *
     * @throws IllegalStateException if somebody else was inside, or had been there with a higher token
     */
    void use(long who, long token) {
        long other = (long) WORD.compareAndExchange(memory, OCCUPANT, 0L, who);
        if (other != 0) {
            throw new IllegalStateException(who + " found " + other + " inside");
        }
        if ((long) WORD.getVolatile(memory, READERS) != 0) {
            throw new IllegalStateException(who + " found readers inside");
        }
        checkToken(who, token);
        WORD.setVolatile(memory, TOKEN, token);
        long read = (long) WORD.getVolatile(memory, COUNTER);
        LockSupport.parkNanos(1); // long enough that others come to run
        WORD.setVolatile(memory, COUNTER, read + 1);
        WORD.setVolatile(memory, OCCUPANT, 0L);
    }

    /**
     * Goes through it once beside other readers.
     *
     * @throws IllegalStateException if a writer was inside, or had been there with a higher token
     */
    void read(long who, long token) {
        WORD.getAndAdd(memory, READERS, 1L);
        long writer = (long) WORD.getVolatile(memory, OCCUPANT);
        if (writer != 0) {
            throw new IllegalStateException(who + " found the writer " + writer + " inside");
        }
        checkToken(who, token);
        LockSupport.parkNanos(1);
        WORD.getAndAdd(memory, READERS, -1L);
    }

    /**
     * Goes through it once with some permits.
     *
     * @throws IllegalStateException if more are inside than there are
     */
    void share(long who, int permits, int of) {
        long inside = (long) WORD.getAndAdd(memory, PERMITS, (long) permits) + permits;
        if (inside > of) {
            throw new IllegalStateException(who + " made it " + inside + " permits of " + of);
        }
        LockSupport.parkNanos(1);
        WORD.getAndAdd(memory, PERMITS, (long) -permits);
    }

    private void checkToken(long who, long token) {
        long highest = (long) WORD.getVolatile(memory, TOKEN);
        if (highest >= token) {
            throw new IllegalStateException(who + " came with the token " + token + " after " + highest);
        }
    }

    long counter() {
        return (long) WORD.getVolatile(memory, COUNTER);
    }
}
