package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An H2 server that is killed, and the user who may not make it durable. */
@Tag("thorough")
class H2DurabilityTest extends OnH2Server {
    private static final int LOCKS = 20;

    @Test
    void aServerThatIsKilledForgetsNoGrantThatItAnswered() {
        List<Grant> granted = claimAndKill();
        assertAllAreKnown(granted);
    }

    /** H2 keeps the setting, and does not go by it when it opens the database again. */
    @Test
    void aServerThatWasStartedAgainForgetsNoneEither() {
        claimAndKill();
        List<Grant> granted = claimAndKill();
        assertAllAreKnown(granted);
    }

    private List<Grant> claimAndKill() {
        List<Grant> granted = new ArrayList<>();
        try (Store holder = open(server.url("locks"))) {
            for (int i = 0; i < LOCKS; i++) {
                Claim claim = Requests.claim("lock " + System.nanoTime());
                granted.add(Requests.get(Asked.of(holder, claim).answer()).orElseThrow());
            }
            server.process().kill();
            server.process().restart();
        }
        return granted;
    }

    private void assertAllAreKnown(List<Grant> granted) {
        try (Store rival = open(server.url("locks"))) {
            for (Grant each : granted) {
                assertThat(Requests.get(
                                Asked.of(rival, Requests.claim(each.name())).answer()))
                        .as(each.name())
                        .isEmpty();
                assertThat(Requests.get(rival.renew(List.of(each)))
                                .get(each.id())
                                .verdict())
                        .isEqualTo(Verdict.HELD);
            }
        }
    }

    @Test
    void aUserWhoMayNotEndLateCommitsIsRefusedUntilAnAdministratorHasEndedThem() throws SQLException {
        String weak = server.url("shared") + ";USER=weak;PASSWORD=x";
        try (Connection administrator = DriverManager.getConnection(server.url("shared"));
                Statement statement = administrator.createStatement()) {
            open(server.url("shared")).close();
            statement.execute("CREATE USER weak PASSWORD 'x'");
            statement.execute("GRANT ALL ON holdfast_lock TO weak");
            statement.execute("SET WRITE_DELAY 500");

            assertThatThrownBy(() -> open(weak))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("WRITE_DELAY 0");

            statement.execute("SET WRITE_DELAY 0");
            try (Store store = open(weak)) {
                assertThat(Requests.get(
                                Asked.of(store, Requests.claim("allowed")).answer()))
                        .isPresent();
            }
        }
    }

    @Test
    void inMemoryThereIsNothingToWrite() throws SQLException {
        String url = "jdbc:h2:mem:weak";
        try (Connection administrator = DriverManager.getConnection(url);
                Statement statement = administrator.createStatement()) {
            open(url).close();
            statement.execute("CREATE USER weak PASSWORD 'x'");
            statement.execute("GRANT ALL ON holdfast_lock TO weak");
            statement.execute("SET WRITE_DELAY 500"); // as somebody may have set it; weak may not
            try (Store store = open(url + ";USER=weak;PASSWORD=x")) {
                assertThat(Requests.get(
                                Asked.of(store, Requests.claim("allowed")).answer()))
                        .isPresent();
            }
        }
    }
}
