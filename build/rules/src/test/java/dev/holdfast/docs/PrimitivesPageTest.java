package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.MultiHold;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the quick start shows of readers, permits and several names, run. */
@Timeout(120)
class PrimitivesPageTest {
    @AutoClose
    private final LockClient client = LockClient.connect("mem:");

    private final List<String> done = new ArrayList<>();

    @Test
    void primitives() throws InterruptedException {
        // @formatter:off
        // snippet primitives
        try (Hold reading = client.readWriteLock("catalogue").read().acquire()) {   // beside other readers
            show(reading.name());
        }
        try (Hold permit = client.semaphore("exports", 4).acquire()) {              // one of four at once
            export(permit.name());
        }
        try (MultiHold both = client.multiLock(List.of("a", "b")).acquire()) {      // both, or none
            transfer(both.token("a"), both.token("b"));
        }
        // end
        // @formatter:on
        assertThat(done).containsExactly("catalogue", "exports", "transfer");
    }

    private void show(String what) {
        done.add(what);
    }

    private void export(String what) {
        done.add(what);
    }

    private void transfer(long from, long to) {
        assertThat(List.of(from, to)).allMatch(token -> token > 0);
        done.add("transfer");
    }
}
