package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.support.Asked;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * A claim that is called off while the database carries it out. Who called it off may have let the next one in already:
 * a grant that comes after that would block it for a lease.
 */
class CancelTest {
    private static final String NAME = "order:42";
    private final CompletableFuture<Asked> called = new CompletableFuture<>();

    @Test
    void isAnsweredWithNothingAndLeavesNothingOnAServer() throws SQLException {
        Meddling connections = new Meddling("jdbc:h2:mem:cancel" + System.nanoTime() + ";DB_CLOSE_DELAY=-1");
        try (ServerStore store = connections.store()) {
            Requests.get(store.release(
                    Requests.get(Asked.of(store, Requests.claim(NAME)).answer()).orElseThrow()));
            connections.meddle(sql -> {
                if (sql.contains("UPDATE")) {
                    connections.meddle(any -> {});
                    called.join().cancel();
                }
            });

            called.complete(Asked.of(store, Requests.waiting(NAME)));

            assertThat(Requests.get(called.join().answer())).isEmpty();
            assertThat(Requests.get(Asked.of(store, Requests.claim(NAME)).answer()))
                    .isPresent();
        }
    }
}
