package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.tck.FaultyTime;
import dev.holdfast.tck.IgnoringListener;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.Started;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The wall clock runs ahead of {@code nanoTime}, as while a machine sleeps: what was proved before counts no more. */
class SleepTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration LONG = Duration.ofSeconds(60);

    /** Its next renewal is due after more time than the test waits. */
    private static final HoldOptions RARELY_RENEWED = HoldOptions.defaults().lease(LONG.multipliedBy(10));

    @Started
    private static EtcdServer server;

    private final FaultyTime time = new FaultyTime();

    @Test
    void aClaimAfterASleepCountsFromAProofAfterIt() {
        try (Store store = RawStore.open(server.port(), time)) {
            store.listen(new IgnoringListener());
            RawStore.answer(store.release(RawStore.hold(store, "slept", LEASE)));
            time.moveWallClock(Duration.ofSeconds(20));
            long awake = time.nanoTime();

            Grant grant = RawStore.hold(store, "slept", LEASE);

            assertThat(grant.sentNanos() - awake).isNotNegative();
        }
    }

    @Test
    void aHoldIsProvedAgainAtOnce() throws InterruptedException {
        try (LockClient client = LockClient.builder(RawStore.open(server.port(), time))
                        .time(time)
                        .build();
                Hold hold = client.lock("doubted", RARELY_RENEWED).acquire()) {
            time.moveWallClock(LEASE); // longer than the margin of that hold

            assertThat(hold.isValid()).as("until the store confirms it").isFalse();
            await().atMost(LONG).until(hold::isValid);
        }
    }
}
