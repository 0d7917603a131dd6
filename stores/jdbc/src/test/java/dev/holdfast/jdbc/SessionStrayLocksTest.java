package dev.holdfast.jdbc;

import static dev.holdfast.jdbc.Requests.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.Asked;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A request that fails half-way leaves no lock of the server behind that no grant stands for. */
@Tag("thorough")
@Timeout(120)
class SessionStrayLocksTest {
    @RegisterExtension
    static final BothServers servers = new BothServers();

    @AutoClose
    private final SessionRig rig = new SessionRig();

    /** The table is locked for longer than a try waits for an answer: its session ends, and so nothing is left to withdraw. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aTryWhoseAnswerComesTooLateLeavesNoLock(String database) throws SQLException {
        SessionStore store = rig.store(servers.url(database));
        Grant beside = hold(store, database + " beside a late one");
        String name = database + " late";
        get(store.release(hold(store, name)));
        Claim claim = Requests.claim(name);
        try (Connection connection = DriverManager.getConnection(servers.url(database))) {
            connection.setAutoCommit(false);
            SqlSession.execute(connection, lockTable(database));
            CompletionStage<Optional<Grant>> answer = Asked.of(store, claim).answer();
            assertThatThrownBy(() -> get(answer)).isInstanceOf(StoreUnavailableException.class);
            get(store.withdraw(claim));
            assertThat(get(store.renew(List.of(beside))).get(beside.id()).verdict())
                    .as("of a grant of the same session")
                    .isEqualTo(Renewal.Verdict.LOST);
            SqlSession.execute(connection, database.equals("mariadb") ? "UNLOCK TABLES" : "COMMIT");
        }
        becomesFree(database, name);
    }

    private static String lockTable(String database) {
        return database.equals("mariadb")
                ? "LOCK TABLES holdfast_lock_session WRITE"
                : "LOCK TABLE holdfast_lock_session IN ACCESS EXCLUSIVE MODE";
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aRowOfANewerLayoutIsRefusedWithoutItsLock(String database) throws SQLException {
        SessionStore store = rig.store(servers.url(database));
        hold(store, database + " beside a newer one");
        String name = database + " newer";
        get(store.release(hold(store, name)));
        servers.sql(database, "UPDATE holdfast_lock_session SET layout = 2 WHERE name = '" + name + "'");
        assertThatThrownBy(() -> get(Asked.of(store, Requests.claim(name)).answer()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("layout 2");
        servers.sql(database, "UPDATE holdfast_lock_session SET layout = 1 WHERE name = '" + name + "'");
        becomesFree(database, name);
    }

    /** As after a deadlock, or when an administrator ends the statement. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aTryThatIsMadeAgainHasTheLockOnce(String database) {
        SessionStore store = meddled(database, 1);
        String name = database + " tried twice";
        Grant grant = hold(store, name);
        assertThat(get(store.release(grant))).isTrue();
        becomesFree(database, name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aTryThatFailsLeavesNoLock(String database) {
        SessionStore store = meddled(database, 100);
        String name = database + " tried in vain";
        assertThatThrownBy(() -> get(Asked.of(store, Requests.claim(name)).answer()))
                .isInstanceOf(StoreUnavailableException.class);
        becomesFree(database, name);
    }

    /** The statement that writes a grant into the row fails so often. */
    private SessionStore meddled(String database, int times) {
        Meddling connections = new Meddling(servers.url(database));
        AtomicInteger left = new AtomicInteger(times);
        SessionStore store = rig.store(connections, servers.url(database), SessionStore.SESSION);
        hold(store, database + " beside " + times);
        connections.meddle(sql -> {
            if (sql.contains("grant_number = ?") && left.getAndDecrement() > 0) {
                throw new SQLException("a deadlock", "40001", 1213);
            }
        });
        return store;
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aReleaseWhoseUnlockingIsCalledOffIsARelease(String database) {
        Meddling connections = new Meddling(servers.url(database));
        SessionStore store = rig.store(connections, servers.url(database), SessionStore.SESSION);
        Grant grant = hold(store, database + " called off");
        AtomicInteger left = new AtomicInteger(1);
        connections.meddle(sql -> {
            if ((sql.contains("RELEASE_LOCK") || sql.contains("pg_advisory_unlock")) && left.getAndDecrement() > 0) {
                throw new SQLException("called off", database.equals("mariadb") ? "70100" : "57014", 1317);
            }
        });
        assertThat(get(store.release(grant))).isTrue();
        assertThat(left.get()).isNotPositive();
    }

    /** As when a trigger of the application's refuses the change, or a privilege was revoked. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aReleaseThatTheDatabaseRefusesLeavesNoLock(String database) throws SQLException {
        SessionStore store = rig.store(servers.url(database));
        hold(store, database + " beside a refused one");
        Grant grant = hold(store, database + " refused");
        servers.sql(database, refuseChanges(database));
        try {
            assertThatThrownBy(() -> get(store.release(grant))).isInstanceOf(StoreRefusedException.class);
        } finally {
            servers.sql(
                    database, "DROP TRIGGER refusal" + (database.equals("mariadb") ? "" : " ON holdfast_lock_session"));
        }
        becomesFree(database, grant.name());
    }

    private static String[] refuseChanges(String database) {
        String trigger = "CREATE TRIGGER refusal BEFORE UPDATE ON holdfast_lock_session FOR EACH ROW ";
        return database.equals("mariadb")
                ? new String[] {trigger + "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'"}
                : new String[] {
                    "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                            + " $$ BEGIN RAISE EXCEPTION 'refused'; END $$",
                    trigger + "EXECUTE FUNCTION refuse()"
                };
    }

    private static Grant hold(SessionStore store, String name) {
        return get(Asked.of(store, Requests.claim(name)).answer()).orElseThrow();
    }

    /** For a client that only tries, while the first one goes on to use its session. */
    private void becomesFree(String database, String name) {
        SessionStore other = rig.store(servers.url(database));
        await().atMost(Duration.ofSeconds(20))
                .until(() -> get(Asked.of(other, Requests.claim(name)).answer()).isPresent());
    }
}
