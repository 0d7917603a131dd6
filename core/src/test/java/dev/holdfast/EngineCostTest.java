package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.holdfast.memory.MemoryStore;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What the engine takes of the heap, with what {@code mem:} adds to it; that one answers on the caller's thread. The limits may
 * only fall.
 */
@Tag("thorough")
class EngineCostTest {
    private static final int WARM = 20_000;
    private static final int MANY = 20_000;
    /** Whatever else this JVM keeps meanwhile only adds. */
    private static final int TRIES = 3;

    @Test
    void aFreeLockAllocatesLittleWhenItIsTakenAndGivenBack() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (LockClient client = LockClient.builder(new MemoryStore()).build()) {
            takeAndGiveBack(client, "warm", WARM);
            long before = threads.getCurrentThreadAllocatedBytes();
            takeAndGiveBack(client, "measured", MANY);
            long bytes = (threads.getCurrentThreadAllocatedBytes() - before) / MANY;

            System.out.println(bytes + " bytes allocated for each lock that was taken and given back");
            assertThat(bytes).isBetween(500L, 4_560L);
        }
    }

    private static void takeAndGiveBack(LockClient client, String names, int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            client.lock(names + i).acquire().close();
        }
    }

    @Test
    void aHeldLockKeepsLittle() throws Exception {
        try (LockClient client = LockClient.builder(new MemoryStore()).build()) {
            takeAndGiveBack(client, "warm", WARM);
            long bytes = Long.MAX_VALUE;
            for (int i = 0; i < TRIES; i++) {
                bytes = Math.min(bytes, kept(client));
            }

            System.out.println(bytes + " bytes kept for each lock that is held");
            assertThat(bytes).isBetween(300L, 1_320L);
        }
    }

    private static long kept(LockClient client) throws InterruptedException {
        List<Hold> holds = new ArrayList<>(MANY);
        long before = used();
        for (int i = 0; i < MANY; i++) {
            holds.add(client.lock("held" + i).acquire());
        }
        long bytes = (used() - before) / MANY;
        holds.forEach(Hold::close);
        return bytes;
    }

    private static long used() throws InterruptedException {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(20);
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }
}
