package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What a lock is to protect: a counter and a list that are nowhere protected by themselves, and an "occupied" sign that
 * needs no clock to see two inside.
 */
final class CriticalSection {
    private final AtomicReference<@Nullable Object> occupant = new AtomicReference<>();
    private final Queue<String> collisions = new ConcurrentLinkedQueue<>();
    private final List<Long> tokens = new ArrayList<>();
    private int counter;

    /** Goes through it once. */
    void pass(Hold hold) {
        pass(hold, hold.token());
    }

    /** Goes through it once, as one who has such a token. */
    void pass(Object who, long token) {
        Object other = occupant.compareAndExchange(null, who);
        if (other != null) {
            collisions.add(who + " found " + other + " inside");
            return;
        }
        int read = counter;
        tokens.add(token);
        LockSupport.parkNanos(1); // long enough that others come to run
        counter = read + 1;
        occupant.set(null);
    }

    /** Everyone who went through was alone there, and had a higher token than the one before. */
    void assertPassed(int times) {
        assertThat(collisions).isEmpty();
        assertThat(counter).as("lost updates").isEqualTo(times);
        assertThat(tokens)
                .as("tokens in the order of holding")
                .hasSize(times)
                .isSorted()
                .doesNotHaveDuplicates();
    }
}
