package dev.holdfast.jdbc;

import static dev.holdfast.jdbc.Requests.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.support.Asked;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server's clock is set while the next client waits for the one whose connection was killed. */
@Tag("thorough")
@Timeout(120)
class SessionClockTest {
    private static final Duration BELIEF = Duration.ofSeconds(3);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final String MARK = "free_at = session +";

    @RegisterExtension
    static final BothServers servers = BothServers.withClock();

    private final SessionRig rig = new SessionRig();

    @AfterEach
    void close() {
        rig.close();
        servers.clock().set(Duration.ZERO);
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void setForwardItGivesTheLockToNobodyEarlier(String database) throws SQLException {
        AtomicLong killed = new AtomicLong();
        Asked waiting = killedWhileAnotherWaits(database, database + " forward", HOUR, killed);
        assertThat(get(waiting.answer())).isPresent();
        assertThat(Duration.ofNanos(System.nanoTime() - killed.get())).isGreaterThanOrEqualTo(BELIEF);
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void setBackItKeepsNobodyWaitingLonger(String database) throws SQLException {
        Asked waiting = killedWhileAnotherWaits(database, database + " back", HOUR.negated(), new AtomicLong());
        assertThat(get(waiting.answer())).isPresent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void setBackItKeepsNobodyTryingLonger(String database) throws SQLException {
        String name = database + " tried";
        SessionStore holder = rig.store(servers.url(database), BELIEF);
        get(Asked.of(holder, Requests.claim(name)).answer()).orElseThrow();
        servers.killHolders(database);
        SessionStore next = rig.store(servers.url(database));
        await().atMost(Duration.ofSeconds(20)).until(() -> {
            assertThat(get(Asked.of(next, Requests.claim(name)).answer())).isEmpty();
            return servers.count(database, "SELECT count(*) FROM holdfast_lock_session WHERE claim_id = '-'") == 1;
        });
        servers.clock().set(HOUR.negated());
        await().atMost(Duration.ofSeconds(20))
                .until(() -> get(Asked.of(next, Requests.claim(name)).answer()).isPresent());
    }

    /** The clock is set as soon as the next one has noted in the row that the session ended. */
    private Asked killedWhileAnotherWaits(String database, String name, Duration offset, AtomicLong killed)
            throws SQLException {
        SessionStore holder = rig.store(servers.url(database), BELIEF);
        get(Asked.of(holder, Requests.claim(name)).answer()).orElseThrow();
        Meddling connections = new Meddling(servers.url(database));
        AtomicBoolean marked = new AtomicBoolean();
        connections.meddle(sql -> {
            if (sql.contains(MARK) && marked.compareAndSet(false, true)) {
                servers.clock().set(offset);
            }
        });
        SessionStore next = rig.store(connections, servers.url(database), SessionStore.SESSION);
        Asked waiting = Asked.of(next, Requests.waiting(name));
        await().atMost(Duration.ofSeconds(20))
                .until(() -> get(holder.status(name)).waiting() == 1);
        killed.set(System.nanoTime());
        servers.killHolders(database);
        return waiting;
    }
}
