package dev.holdfast.jdbc;

import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.Started;
import org.junit.jupiter.api.Tag;

/** The layout of 0.1.0 in sessions of MariaDB. For {@code ./verify --all}, as the other tests of these sessions. */
@Tag("thorough")
class MariaDbSessionFrozenLayoutTest extends FrozenSessionRows {
    private static final String NAME =
            "CONCAT('hf', LEFT(SHA2(CONCAT(DATABASE(), '." + TABLE + "'), 256), 32), '.', %s)";

    @Started
    private static MariaDbServer server;

    @Override
    protected String url() {
        return server.jdbcUrl();
    }

    @Override
    ServerDialect dialect() {
        return new MariaDbDialect();
    }

    @Override
    String locks() {
        String statement = "SELECT GET_LOCK(" + NAME.formatted("number") + ", 0)";
        return "SELECT REPLACE('" + statement.replace("'", "''") + "', 'number', number) FROM " + TABLE
                + " WHERE claim_id <> '" + SessionRow.ENDED + "' AND IS_USED_LOCK(" + NAME.formatted("number")
                + ") IS NOT NULL";
    }
}
