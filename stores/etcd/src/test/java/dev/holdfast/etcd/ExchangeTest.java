package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.Started;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A release and the claim behind it, which leave as one transaction. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ExchangeTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofSeconds(30);

    @Started
    private static EtcdServer server;

    @Test
    void aReleaseAndTheClaimBehindItAreOneChangeAndTheWaiterBetweenThemComesFirst() {
        try (Store store = RawStore.open(server.port());
                Store other = RawStore.open(server.port())) {
            Grant first = RawStore.hold(store, "one", LEASE);
            CompletionStage<Optional<Grant>> between =
                    Asked.of(other, RawStore.claim("one", LEASE, true)).answer();
            await().atMost(LONG)
                    .until(() -> RawStore.answer(store.status("one")).waiting() == 1);
            long before = Etcd.revision(server);

            Exchange exchange = new Exchange(store, first, RawStore.claim("one", LEASE, true));

            assertThat(RawStore.answer(exchange.released)).isTrue();
            Grant second = RawStore.answer(between).orElseThrow();
            assertThat(second.number()).isGreaterThan(first.number());
            assertThat(exchange.claimed).isNotDone();
            assertThat(Etcd.revision(server)).isEqualTo(before + 1);
            assertThat(RawStore.answer(other.release(second))).isTrue();
            assertThat(RawStore.answer(exchange.claimed).orElseThrow().number()).isEqualTo(before + 1);
        }
    }

    /** The lease of the claim is gone, and with it all of the transaction is refused. */
    @Test
    void aReleaseIsCarriedOutThoughTheTransactionOfTheClaimIsRefused() {
        Duration longer = LEASE.plusSeconds(1);
        try (Store store = RawStore.open(server.port());
                Store other = RawStore.open(server.port())) {
            Grant first = RawStore.hold(store, "refused", LEASE);
            Grant ofTheOtherLease = RawStore.hold(store, "other-lease", longer);
            Etcd.revokeLease(server, "/holdfast/locks/other-lease\0");
            CompletionStage<Optional<Grant>> waiting =
                    Asked.of(other, RawStore.claim("refused", LEASE, true)).answer();
            await().atMost(LONG)
                    .until(() -> RawStore.answer(other.status("refused")).waiting() == 1);

            Exchange exchange = new Exchange(store, first, RawStore.claim("refused", longer, true));

            assertThat(RawStore.answer(exchange.released)).isTrue();
            Grant second = RawStore.answer(waiting).orElseThrow();
            assertThat(RawStore.answer(other.release(second))).isTrue();
            assertThat(RawStore.answer(exchange.claimed).orElseThrow().number()).isGreaterThan(second.number());
            assertThat(RawStore.answer(store.release(ofTheOtherLease))).isFalse();
        }
    }

    /** Both may have been carried out, or neither, or may still be. */
    @Test
    void neitherIsLeftBehindNorLostWhenTheirAnswerIsLost() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store store = RawStore.open(proxy.port());
                Store other = RawStore.open(server.port())) {
            Grant first = RawStore.hold(store, "lost", LEASE);
            ReplyDrop lost = proxy.dropNextReply(ChunkMatcher.containing("/holdfast/locks/lost"));

            Exchange exchange = new Exchange(store, first, RawStore.claim("lost", LEASE, true));

            lost.awaitBite(LONG);
            Grant second = RawStore.answer(exchange.claimed).orElseThrow();
            assertThat(second.number()).isGreaterThan(first.number());
            assertThat(RawStore.answer(store.release(first)))
                    .as("asked again, as the engine does")
                    .isTrue();
            assertThat(RawStore.answer(store.release(second))).isTrue();
            assertThat(RawStore.hold(other, "lost", LEASE)).isNotNull();
        }
    }

    /** A release and a claim by one task, before something is sent. */
    private static final class Exchange {
        final CompletableFuture<Boolean> released = new CompletableFuture<>();
        final CompletableFuture<Optional<Grant>> claimed = new CompletableFuture<>();

        Exchange(Store store, Grant grant, Claim next) {
            store.beforeSending(grant.name(), () -> {
                forward(store.release(grant), released);
                forward(Asked.of(store, next).answer(), claimed);
            });
        }

        private static <T> void forward(CompletionStage<T> from, CompletableFuture<T> to) {
            from.whenComplete((value, failure) -> {
                if (failure == null) {
                    to.complete(value);
                } else {
                    to.completeExceptionally(failure);
                }
            });
        }
    }
}
