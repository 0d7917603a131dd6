package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Store;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.OrSkip;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What records leave behind. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RecordTest {
    @Test
    void aRecordThatIsRefusedLeavesNoLease() {
        try (EtcdServer server = OrSkip.orSkip(() -> EtcdServer.start("--max-request-bytes=65536"));
                Store store = RawStore.open(server.port())) {
            RecordWrite small = new RecordWrite("record", 1, RecordWrite.ANY, "small", Duration.ofDays(1));
            assertThat(RawStore.answer(store.writeRecord(small))).isPresent();
            assertThat(Etcd.leases(server)).isOne();

            RecordWrite large =
                    new RecordWrite("record", 2, RecordWrite.ANY, "large".repeat(20_000), Duration.ofDays(1));

            assertThatThrownBy(() -> RawStore.answer(store.writeRecord(large)))
                    .hasCauseInstanceOf(StoreRefusedException.class);
            await().atMost(Duration.ofSeconds(20)).until(() -> Etcd.leases(server) == 1);
            assertThat(RawStore.answer(store.readRecord("record"))
                            .stored()
                            .orElseThrow()
                            .value())
                    .isEqualTo("small");
        }
    }
}
