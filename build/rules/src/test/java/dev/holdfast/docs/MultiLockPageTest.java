package dev.holdfast.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedMultiLock;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.MultiHold;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The snippets of the page on the multi-lock, run. */
@Timeout(120)
class MultiLockPageTest {
    @AutoClose
    private final LockClient client = LockClient.connect("mem:");

    private long from;
    private long to;

    @Test
    void transfer() throws InterruptedException {
        // @formatter:off
        // snippet multi
        DistributedMultiLock accounts = client.multiLock(List.of("account:7", "account:3"));

        try (MultiHold both = accounts.acquire()) {                     // both or none
            transfer(both.token("account:7"), both.token("account:3")); // a token for each
        }                                                               // one lost is all lost: told here
        // end
        // @formatter:on
        assertThat(from).isPositive();
        assertThat(to).isPositive();
        assertThat(accounts.names()).containsExactly("account:3", "account:7");
    }

    @Test
    void oneTime() throws InterruptedException {
        DistributedMultiLock accounts = client.multiLock(List.of("account:7", "account:3"));
        try (Hold other = client.lock("account:7").acquire()) {
            // @formatter:off
            // snippet multiTry
            Optional<MultiHold> now = accounts.tryAcquire();                        // asks once, all together
            Optional<MultiHold> soon = accounts.tryAcquire(Duration.ofMillis(200)); // one time for all of them
            // end
            // @formatter:on
            assertThat(now).isEmpty();
            assertThat(soon).isEmpty();
            assertThat(other.isValid()).isTrue();
        }
    }

    private void transfer(long fromToken, long toToken) {
        from = fromToken;
        to = toToken;
    }
}
