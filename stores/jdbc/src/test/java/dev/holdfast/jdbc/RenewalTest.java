package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.Asked;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What becomes of a renewal whose connection breaks. */
class RenewalTest {
    @Test
    void isNotSentAgainSinceTheFirstMayStillBeCarriedOut() throws SQLException {
        Meddling connections = new Meddling("jdbc:h2:mem:renewal;DB_CLOSE_DELAY=-1");
        try (ServerStore store = connections.store()) {
            Grant grant = Requests.get(
                            Asked.of(store, Requests.claim("renewed")).answer())
                    .orElseThrow();
            AtomicInteger sent = new AtomicInteger();
            connections.meddle(sql -> {
                if (sql.contains("UPDATE")) {
                    sent.incrementAndGet();
                    throw new SQLException("the connection broke", "08006");
                }
            });
            assertThatThrownBy(() -> Requests.get(store.renew(List.of(grant))))
                    .isInstanceOf(StoreUnavailableException.class);
            assertThat(sent).hasValue(1);

            connections.meddle(sql -> {});
            assertThat(Requests.get(store.renew(List.of(grant))).get(grant.id()).verdict())
                    .isEqualTo(Renewal.Verdict.HELD);
        }
    }
}
