package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The snippets of the page on the semaphore, run. */
@Timeout(120)
class SemaphorePageTest {
    private final LockClient client = LockClient.connect("mem:semaphore-page");
    private final LockClient rolledOut = LockClient.connect("mem:semaphore-page");
    private int exported;

    @AfterEach
    void close() {
        rolledOut.close();
        client.close();
    }

    @Test
    void permits() throws InterruptedException {
        // @formatter:off
        // snippet semaphore
        DistributedSemaphore exports = client.semaphore("exports", 4);

        try (Hold permit = exports.acquire()) {                         // waits its turn; renewed while open
            export();                                                   // never more than four at once
        }
        // end
        // @formatter:on
        assertThat(exported).isOne();
    }

    @Test
    void several() throws InterruptedException {
        DistributedSemaphore exports = client.semaphore("exports", 4);
        // @formatter:off
        // snippet semaphoreSome
        Hold large = exports.acquire(3);                                // three together, or none
        Optional<Hold> now = exports.tryAcquire();                      // the fourth, if it is free
        Optional<Hold> soon = exports.tryAcquire(2, Duration.ofMillis(200));
        // end
        // @formatter:on
        assertThat(large.isValid()).isTrue();
        assertThat(now).isPresent();
        assertThat(soon).isEmpty();
    }

    @Test
    void aNewNumberIsRolledOut() throws InterruptedException {
        // @formatter:off
        // snippet semaphoreNumbers
        DistributedSemaphore before = client.semaphore("exports", 4);
        DistributedSemaphore after = rolledOut.semaphore("exports", 6);

        Hold four = before.acquire(4);
        Optional<Hold> fifth = after.tryAcquire();                      // five are within six
        Optional<Hold> another = before.tryAcquire();                   // and not within four
        // end
        // @formatter:on
        assertThat(four.isValid()).isTrue();
        assertThat(fifth).isPresent();
        assertThat(another).isEmpty();
    }

    private void export() {
        exported++;
    }
}
