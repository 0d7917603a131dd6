package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Asked;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A claim that was sent twice, since its connection broke, may be carried out twice: the second time after its release or
 * its refusal, when nobody wants it any more.
 */
class LateClaimTest {
    private static final String NAME = "order:42";
    private static final Duration LEASE = Duration.ofSeconds(9);
    private final AtomicInteger sent = new AtomicInteger();
    private Meddling connections;

    @BeforeEach
    void connect() {
        connections = new Meddling("jdbc:h2:mem:late" + System.nanoTime() + ";DB_CLOSE_DELAY=-1");
    }

    @Test
    void isWithdrawnOnceMoreAfterItsRelease() throws SQLException {
        try (ServerStore store = connections.store();
                ServerStore next = connections.store()) {
            Claim claim = Requests.lease(Requests.claim(NAME), LEASE);
            loseTheNextReply();
            Grant grant = Requests.get(Asked.of(store, claim).answer()).orElseThrow();
            assertThat(sent).as("sent again").hasValueGreaterThan(1);
            assertThat(Requests.get(store.release(grant))).isTrue();

            assertIsWithdrawn(claim, next);
        }
    }

    @Test
    void isWithdrawnOnceMoreWhenItLeftWithTheReleaseBeforeIt() throws SQLException {
        try (ServerStore store = connections.store();
                ServerStore next = connections.store()) {
            Grant before =
                    Requests.get(Asked.of(store, Requests.claim(NAME)).answer()).orElseThrow();
            Claim claim = Requests.lease(Requests.claim(NAME), LEASE);
            CompletableFuture<CompletionStage<Optional<Grant>>> claimed = new CompletableFuture<>();
            loseTheNextReply();
            store.beforeSending(NAME, () -> {
                store.release(before);
                claimed.complete(Asked.of(store, claim).answer());
            });
            Grant grant = Requests.get(Requests.get(claimed)).orElseThrow();
            assertThat(Requests.get(store.release(grant))).isTrue();

            assertIsWithdrawn(claim, next);
        }
    }

    @Test
    void isWithdrawnOnceMoreAfterItsWaitWasCancelled() throws SQLException {
        try (ServerStore store = connections.store();
                ServerStore next = connections.store()) {
            Grant before =
                    Requests.get(Asked.of(next, Requests.claim(NAME)).answer()).orElseThrow();
            Claim claim = Requests.waiting(Requests.lease(Requests.claim(NAME), LEASE));
            loseTheNextReply();
            Asked waiting = Asked.of(store, claim);
            await().until(() -> Requests.get(next.status(NAME)).waiting() == 1);
            assertThat(sent).as("sent again").hasValueGreaterThan(1);
            waiting.cancel();
            assertThat(Requests.get(waiting.answer())).isEmpty();
            assertThat(Requests.get(next.release(before))).isTrue();

            assertIsWithdrawn(claim, next);
        }
    }

    @Test
    void isWithdrawnOnceMoreAfterItWasRefused() throws SQLException {
        try (ServerStore store = connections.store();
                ServerStore next = connections.store()) {
            Grant before =
                    Requests.get(Asked.of(next, Requests.claim(NAME)).answer()).orElseThrow();
            Claim claim = Requests.lease(Requests.claim(NAME), LEASE);
            loseTheNextReply();
            assertThat(Requests.get(Asked.of(store, claim).answer())).isEmpty();
            assertThat(sent).as("sent again").hasValueGreaterThan(1);
            assertThat(Requests.get(next.release(before))).isTrue();

            assertIsWithdrawn(claim, next);
        }
    }

    @Test
    void oneThatWasSentOnceIsNot() throws SQLException {
        try (ServerStore store = connections.store()) {
            Duration lease = Duration.ofMillis(600);
            Grant grant = Requests.get(Asked.of(store, Requests.lease(Requests.claim(NAME), lease))
                            .answer())
                    .orElseThrow();
            assertThat(Requests.get(store.release(grant))).isTrue();
            connections.meddle(sql -> sent.incrementAndGet());

            await().during(lease).untilAsserted(() -> assertThat(sent).hasValue(0));
        }
    }

    /** The copy comes on a connection of which the client knows nothing any more. */
    private static void assertIsWithdrawn(Claim claim, ServerStore next) {
        assertThat(Requests.get(Asked.of(next, claim).answer()))
                .as("for nobody")
                .isPresent();
        await().atMost(LEASE.multipliedBy(2).dividedBy(3))
                .until(() -> Requests.get(Asked.of(next, Requests.claim(NAME)).answer())
                        .isPresent());
    }

    private void loseTheNextReply() {
        connections.meddle(sql -> {
            if (sql.contains("UPDATE") && sent.getAndIncrement() == 0) {
                throw new SQLException("the connection broke", "08006");
            }
        });
    }
}
