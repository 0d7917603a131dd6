package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The layout of 0.1.0 in sessions of PostgreSQL, with its queue. */
class PostgresSessionFrozenLayoutTest extends FrozenSessionRows {
    private static final String SCOPE = "'" + TABLE + "'::regclass::oid::int4";

    @Started
    private static PostgresServer server;

    @Override
    protected String url() {
        return server.jdbcUrl();
    }

    @Override
    ServerDialect dialect() {
        return new PostgresDialect();
    }

    /** The keys are the table and the lock's number; of the queue, both together and the ticket, or 0 for the gate. */
    @Override
    String locks() {
        String text = "'(" + SCOPE.replace("'", "''");
        return "SELECT CASE l.mode WHEN 'ShareLock' THEN 'SELECT pg_advisory_lock_shared' ELSE 'SELECT pg_advisory_lock' END"
                + " || CASE WHEN l.classid::int4 = " + SCOPE + " THEN " + text + ", ' || s.number ELSE " + text
                + " # ' || s.number || ', ' || l.objid END || ')' FROM pg_locks l JOIN " + TABLE + " s"
                + " ON l.classid::int4 = " + SCOPE + " AND l.objid::int4 = s.number OR l.classid::int4 = (" + SCOPE
                + " # s.number) WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND s.claim_id <> '"
                + SessionRow.ENDED + "'";
    }

    @Test
    void aTryDoesNotOvertakeTheWaiter() throws Exception {
        put(Duration.ZERO);
        try (LockClient client = LockClient.connect(storeUrl())) {
            DistributedLock lock = client.lock("waited");
            assertThat(lock.status().waiting()).isOne();
            long token = lock.status().grant().orElseThrow().token();

            run("UPDATE " + TABLE + " SET claim_id = NULL WHERE name = 'waited'");
            run("SELECT pg_advisory_unlock(" + SCOPE + ", 2)");
            assertThat(lock.tryAcquire()).isEmpty();
            closeSession();

            try (Hold next = lock.acquire()) {
                assertThat(next.token()).isGreaterThan(token);
            }
        }
    }
}
