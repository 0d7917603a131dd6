package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.Asked;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A grant whose renewal fails by itself, and those beside it. */
class RenewedApartTest {
    /** More than are remembered as failing by themselves. */
    private static final int MANY = 1_100;

    private static final JdbcOptions ONE = JdbcOptions.defaults().connections(1);

    private final Meddling connections = new Meddling("jdbc:h2:mem:apart;DB_CLOSE_DELAY=-1");

    /** A row that somebody else has locked costs a time-out each time, for which all requests behind it wait. */
    @Test
    void aRenewalBlockedByARowLockIsNotRepeatedImmediately() throws SQLException {
        try (ServerStore store = connections.store(ONE)) {
            Grant grant = Requests.get(Asked.of(store, Requests.claim("locked")).answer())
                    .orElseThrow();
            List<String> sent = lockedOut();

            assertThatThrownBy(() -> Requests.get(store.renew(List.of(grant))))
                    .isInstanceOf(StoreUnavailableException.class);

            assertThat(sent).hasSize(1);
        }
    }

    /** In an outage all fail by themselves that are renewed alone; that must not use the memory up for good. */
    @Test
    @Tag("thorough")
    void oneThatFailedIsRenewedApartAlsoAfterManyOthersFailed() throws SQLException {
        try (ServerStore store = connections.store(ONE)) {
            lockedOut();
            for (int i = 0; i < MANY; i++) {
                Grant gone = grant("gone");
                assertThatThrownBy(() -> Requests.get(store.renew(List.of(gone))))
                        .isInstanceOf(StoreUnavailableException.class);
            }
            Grant bad = grant("bad");
            assertThatThrownBy(() -> Requests.get(store.renew(List.of(bad))))
                    .isInstanceOf(StoreUnavailableException.class);
            List<Grant> all = new ArrayList<>(IntStream.range(0, 5)
                    .mapToObj(i -> Requests.get(
                                    Asked.of(store, Requests.claim("good " + i)).answer())
                            .orElseThrow())
                    .toList());
            all.add(bad);
            List<String> sent = new ArrayList<>();
            connections.meddle(sql -> add(sent, sql));

            var renewals = Requests.get(store.renew(all));

            assertThat(renewals.values())
                    .filteredOn(each -> each.verdict() == Renewal.Verdict.HELD)
                    .hasSize(5);
            assertThat(sent)
                    .as("one statement for the five, one for the bad one")
                    .hasSize(2)
                    .doesNotHaveDuplicates();
        }
    }

    private List<String> lockedOut() {
        List<String> sent = new ArrayList<>();
        connections.meddle(sql -> {
            if (add(sent, sql)) {
                throw new SQLException("Lock wait timeout exceeded", "HY000", 1205);
            }
        });
        return sent;
    }

    private static boolean add(List<String> sent, String sql) {
        return sql.contains("UPDATE") && sql.contains(" IN (") && sent.add(sql);
    }

    private static Grant grant(String name) {
        Claim claim = Requests.claim(name);
        return Grant.of(claim, 1L, 0);
    }
}
