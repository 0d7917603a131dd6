package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.tck.FaultyTime;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.Started;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The wall clocks of clients are set: no lock goes by them, and records only as far as etcd tells no time. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ClockTest {
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration LONG = Duration.ofSeconds(60);

    @Started
    private static EtcdServer server;

    private final FaultyTime time = new FaultyTime();

    @Test
    void aClockThatIsSetBackEndsNoHoldAndNoWait() throws Exception {
        try (LockClient client = LockClient.builder(RawStore.open(server.port(), time))
                        .time(time)
                        .build();
                LockClient other = LockClient.connect(Etcd.url(server.endpoint()))) {
            Hold hold = client.lock("back", HoldOptions.defaults().lease(LEASE)).acquire();
            CompletableFuture<Hold> waiting = other.lock("back").acquireAsync();
            await().atMost(LONG).until(() -> client.lock("back").status().waiting() == 1);

            time.moveWallClock(Duration.ofHours(-1));

            await().during(LEASE.multipliedBy(2)).atMost(LONG).until(hold::isValid);
            assertThat(waiting).isNotDone();
            hold.close();
            waiting.get(60, TimeUnit.SECONDS).close();
        }
    }

    /** Else work that was done would be done again, when it is the turn of a client whose clock is behind. */
    @Test
    void aClockBehindThatOfTheLastWriteCountsAsThat() {
        time.moveWallClock(Duration.ofHours(1));
        try (Store ahead = RawStore.open(server.port(), time);
                Store behind = RawStore.open(server.port())) {
            RecordWrite write = new RecordWrite("record", 1, RecordWrite.ABSENT, "first", Duration.ofDays(1));
            StoredRecord first = RawStore.answer(ahead.writeRecord(write)).orElseThrow();

            RecordReading read = RawStore.answer(behind.readRecord("record"));

            assertThat(read.now()).isEqualTo(first.writtenAt());
            RecordWrite after = new RecordWrite("record", 2, first.revision(), "second", Duration.ofDays(1));
            assertThat(RawStore.answer(behind.writeRecord(after)))
                    .hasValueSatisfying(second -> assertThat(second.writtenAt()).isEqualTo(first.writtenAt()));
        }
    }
}
