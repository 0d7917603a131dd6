package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Asked;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A release that the server carried out and whose answer never came. */
class LostReplyTest {
    private static final String NAME = "order:42";
    private final AtomicInteger lost = new AtomicInteger();
    private Meddling connections;

    @BeforeEach
    void connect() {
        connections = new Meddling("jdbc:h2:mem:reply" + System.nanoTime() + ";DB_CLOSE_DELAY=-1");
    }

    @Test
    void isNotToldAsTheLossOfTheHold() throws SQLException {
        try (ServerStore store = connections.store()) {
            Grant grant =
                    Requests.get(Asked.of(store, Requests.claim(NAME)).answer()).orElseThrow();
            loseTheNextReply();

            assertUnknown(store.release(grant));

            assertThat(lost).hasValue(1);
            assertThat(Requests.get(store.status(NAME)).isHeld()).isFalse();
        }
    }

    @Test
    void isNotToldAsTheLossOfTheHoldWhenTheNextClaimLeavesWithIt() throws SQLException {
        try (ServerStore store = connections.store()) {
            Grant grant =
                    Requests.get(Asked.of(store, Requests.claim(NAME)).answer()).orElseThrow();
            loseTheNextReply();
            CompletableFuture<CompletionStage<Boolean>> released = new CompletableFuture<>();
            CompletableFuture<Grant> claimed = new CompletableFuture<>();
            store.beforeSending(NAME, () -> {
                released.complete(store.release(grant));
                Asked.of(store, Requests.claim(NAME)).answer().thenAccept(next -> claimed.complete(next.orElseThrow()));
            });

            assertUnknown(Requests.get(released));

            assertThat(lost).hasValue(1);
            assertThat(Requests.get(claimed).number()).isGreaterThan(grant.number());
        }
    }

    @Test
    void aHoldThatWasLostBeforeItsReleaseIsToldAsLost() throws SQLException {
        try (ServerStore store = connections.store()) {
            Grant grant =
                    Requests.get(Asked.of(store, Requests.claim(NAME)).answer()).orElseThrow();
            assertThat(Requests.get(store.breakGrant(NAME, grant.number(), true)))
                    .isTrue();

            assertThat(Requests.get(store.release(grant))).isFalse();
        }
    }

    @Test
    void aGrantThatWasBrokenByTheFirstTryIsNotToldAsOverBefore() throws SQLException {
        try (ServerStore store = connections.store()) {
            Grant grant =
                    Requests.get(Asked.of(store, Requests.claim(NAME)).answer()).orElseThrow();
            loseTheNextReply();

            assertUnknown(store.breakGrant(NAME, grant.number(), true));

            assertThat(lost).hasValue(1);
            assertThat(Requests.get(store.status(NAME)).isHeld()).isFalse();
            assertThat(Requests.get(store.breakGrant(NAME, grant.number(), true)))
                    .isFalse();
        }
    }

    private void loseTheNextReply() {
        connections.meddle(sql -> {
            if (sql.contains("UPDATE") && lost.getAndIncrement() == 0) {
                connections.meddle(any -> {});
                throw new SQLException("the connection broke", "08006");
            }
        });
    }

    private static void assertUnknown(CompletionStage<Boolean> release) {
        assertThatThrownBy(() -> Requests.get(release))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("'" + NAME + "'")
                .hasMessageContaining("cannot tell whether");
    }
}
