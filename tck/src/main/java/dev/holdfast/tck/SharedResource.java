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
 * A file that processes share as memory: a counter that is nowhere protected by itself, the highest token seen, and an
 * "occupied by" word, which tells of two inside at once without any clock.
 */
final class SharedResource {
    private static final int SIZE = 24;
    private static final int OCCUPANT = 0;
    private static final int COUNTER = 8;
    private static final int TOKEN = 16;
    private static final VarHandle WORD = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer memory;

    SharedResource(Path path) throws IOException {
        try (FileChannel file =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = file.map(MapMode.READ_WRITE, 0, SIZE).order(ByteOrder.nativeOrder());
        }
    }

    /**
     * Goes through it once: read, change, write.
     *
     * @throws IllegalStateException if somebody else was inside, or had been there with a higher token
     */
    void use(long who, long token) {
        long other = (long) WORD.compareAndExchange(memory, OCCUPANT, 0L, who);
        if (other != 0) {
            throw new IllegalStateException(who + " found " + other + " inside");
        }
        long highest = (long) WORD.getVolatile(memory, TOKEN);
        if (highest >= token) {
            throw new IllegalStateException(who + " came with the token " + token + " after " + highest);
        }
        WORD.setVolatile(memory, TOKEN, token);
        long read = (long) WORD.getVolatile(memory, COUNTER);
        LockSupport.parkNanos(1); // long enough that others come to run
        WORD.setVolatile(memory, COUNTER, read + 1);
        WORD.setVolatile(memory, OCCUPANT, 0L);
    }

    long counter() {
        return (long) WORD.getVolatile(memory, COUNTER);
    }
}
