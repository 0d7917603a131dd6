package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.OrSkip;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server whose space is used up: it removes keys, and writes none. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@Tag("thorough")
class FullServerTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final int MOST_PUTS = 100;

    /** The server may have carried it out all the same. */
    @Test
    void aClaimThatIsRefusedForWantOfSpaceIsWithdrawnBeforeThereIsSpaceAgain() {
        try (EtcdServer server = OrSkip.orSkip(() -> EtcdServer.start("--quota-backend-bytes=3000000"));
                Store store = RawStore.open(server.port())) {
            RawStore.hold(store, "held", LEASE); // its session serves the next claim, too
            fill(server);
            Claim claim = RawStore.claim("refused", LEASE, false);
            assertThatThrownBy(() -> RawStore.answer(Asked.of(store, claim).answer()))
                    .hasCauseInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("takes no more");

            assertThat(store.withdraw(claim).toCompletableFuture()).succeedsWithin(LONG);
        }
    }

    private static void fill(EtcdServer server) {
        String value = Etcd.base64("v".repeat(200_000));
        for (int i = 0; i < MOST_PUTS; i++) {
            try {
                server.ask("kv/put", "{\"key\":\"" + Etcd.base64("fill-" + i) + "\",\"value\":\"" + value + "\"}");
            } catch (IllegalStateException full) {
                return;
            }
        }
        throw new AssertionError("there is still space");
    }
}
