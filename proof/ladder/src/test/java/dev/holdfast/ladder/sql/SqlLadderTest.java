package dev.holdfast.ladder.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StaleTokenException;
import dev.holdfast.TokenGate;
import dev.holdfast.ladder.HoldfastRung;
import dev.holdfast.ladder.Rung;
import dev.holdfast.ladder.Visitor;
import dev.holdfast.ladder.VisitorProcess;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each fault breaks one recipe of locks by records, in PostgreSQL, and Holdfast stands. */
class SqlLadderTest {
    private static final String LOCK = "stock:7";
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Started
    private static PostgresServer server;

    private final Deque<Rung> rungs = new ArrayDeque<>();

    @BeforeEach
    void forgetAll() throws SQLException {
        sql("DROP TABLE IF EXISTS occupied, locked, owned, leased, holdfast_lock");
        sql("CREATE TABLE occupied (name text PRIMARY KEY, state text NOT NULL)");
        sql("INSERT INTO occupied VALUES ('" + LOCK + "', 'free')");
        sql("CREATE TABLE locked (name text PRIMARY KEY)");
        sql("CREATE TABLE owned (name text PRIMARY KEY, owner text NOT NULL, depth int NOT NULL)");
        sql("CREATE TABLE leased (name text PRIMARY KEY, beat timestamptz NOT NULL)");
    }

    @AfterEach
    void close() {
        rungs.forEach(Rung::close);
    }

    @Test
    void twoWhoLookBeforeEitherOccupiesAreBothLetIn() {
        CountDownLatch looked = new CountDownLatch(2);
        Visitor first = Visitor.comes(on(new QueryAndOccupy(server.jdbcUrl(), () -> meet(looked))), LOCK);
        Visitor second = Visitor.comes(on(new QueryAndOccupy(server.jdbcUrl(), () -> meet(looked))), LOCK);

        first.awaitInside();
        second.awaitInside();

        assertThat(first.leaves()).isTrue();
        assertThat(second.leaves()).isTrue();
    }

    private static void meet(CountDownLatch all) {
        all.countDown();
        try {
            all.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aUniqueRowLetsOneIn() {
        Visitor first = Visitor.comes(on(new UniqueRow(server.jdbcUrl())), LOCK);
        first.awaitInside();

        assertThat(Visitor.canEnter(on(new UniqueRow(server.jdbcUrl())), LOCK)).isFalse();
        first.leaves();
        assertThat(Visitor.canEnter(on(new UniqueRow(server.jdbcUrl())), LOCK)).isTrue();
    }

    @Test
    @Tag("thorough")
    void aKilledProcessLeavesItsRowForEver() throws SQLException {
        killedInside(UniqueRow.class, () -> {});

        assertThat(sql("SELECT count(*) FROM locked")).isEqualTo("1");
        assertThat(Visitor.canEnter(on(new UniqueRow(server.jdbcUrl())), LOCK)).isFalse();
    }

    @Test
    @Tag("thorough")
    void aHeartbeatThatStopsEndsTheRow() {
        Rung next = on(new Heartbeat(server.jdbcUrl()));
        killedInside(
                Heartbeat.class, () -> assertThat(Visitor.canEnter(next, LOCK)).isFalse());

        Awaitility.await().atMost(PATIENCE).until(() -> Visitor.canEnter(next, LOCK));
    }

    private static void killedInside(Class<? extends Rung> rung, Runnable then) {
        try (VisitorProcess first = VisitorProcess.start(rung, server.jdbcUrl(), LOCK)) {
            first.enters().awaitInside().kill();
            then.run();
        }
    }

    @Test
    @Tag("thorough")
    void aStoppedProcessGoesOnBesideTheNextAndRemovesItsRow() throws SQLException {
        try (VisitorProcess first = VisitorProcess.start(Heartbeat.class, server.jdbcUrl(), LOCK)) {
            first.enters().awaitInside().stop();
            Visitor second = enterWhenFree(new Heartbeat(server.jdbcUrl()));
            first.cont();
            assertThat(first.writes()).isEqualTo(Rung.NO_TOKEN);
            assertThat(first.awaitEnd()).as("what it was told").isEmpty();

            assertThat(sql("SELECT count(*) FROM leased"))
                    .as("the row of the second")
                    .isEqualTo("0");
            assertThat(Visitor.canEnter(on(new Heartbeat(server.jdbcUrl())), LOCK))
                    .as("a third, beside the second")
                    .isTrue();
            second.leaves();
        }
    }

    @Test
    @Tag("thorough")
    void twoProcessesOfOneHostWhoseThreadsHaveOneNameAreBothLetIn() {
        try (VisitorProcess first = VisitorProcess.start(HostAndThread.class, server.jdbcUrl(), LOCK);
                VisitorProcess second = VisitorProcess.start(HostAndThread.class, server.jdbcUrl(), LOCK)) {
            first.enters().awaitInside();
            second.enters().awaitInside();

            first.writes();
            second.writes();
        }
    }

    @Test
    @Tag("thorough")
    void holdfastTellsTheTwoProcessesApart() {
        Rung other = on(new HoldfastRung(server.jdbcUrl()));
        try (VisitorProcess first = VisitorProcess.start(HoldfastRung.class, server.jdbcUrl(), LOCK)) {
            first.enters().awaitInside();
            Thread.currentThread().setName("main");

            assertThat(Visitor.canEnter(other, LOCK)).isFalse();
            first.writes();
        }
    }

    @Test
    void holdfastTellsTheStoppedProcessAndItsTokenIsRefused() {
        TokenGate resource = new TokenGate(LOCK);
        Rung third = on(new HoldfastRung(server.jdbcUrl()));
        try (VisitorProcess first = VisitorProcess.start(HoldfastRung.class, server.jdbcUrl(), LOCK)) {
            first.enters().awaitInside().stop();
            Visitor second = enterWhenFree(new HoldfastRung(server.jdbcUrl()));
            resource.check(second.awaitInside());
            first.cont();
            long late = first.writes();

            assertThatThrownBy(() -> resource.check(late)).isInstanceOf(StaleTokenException.class);
            assertThat(first.awaitEnd()).isEqualTo("HoldLostException");
            assertThat(Visitor.canEnter(third, LOCK)).isFalse();
            second.leaves();
        }
    }

    private Visitor enterWhenFree(Rung rung) {
        on(rung);
        Awaitility.await().atMost(PATIENCE).until(() -> Visitor.canEnter(rung, LOCK));
        Visitor visitor = Visitor.comes(rung, LOCK);
        visitor.awaitInside();
        return visitor;
    }

    private Rung on(Rung rung) {
        rungs.push(rung);
        return rung;
    }

    private static String sql(String statement) throws SQLException {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl());
                Statement asked = connection.createStatement()) {
            if (!asked.execute(statement)) {
                return "";
            }
            ResultSet rows = asked.getResultSet();
            rows.next();
            return rows.getString(1);
        }
    }
}
