package dev.holdfast.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** The layout of 0.1.0 in an UNLOGGED table of PostgreSQL, with the logged one beside it. */
class UnloggedFrozenLayoutTest extends PostgresFrozenLayoutTest {
    private static final String IDENTITY =
            "SELECT concat_ws('/', s.system_identifier, d.oid, 'holdfast_lock'::regclass::oid)"
                    + " FROM pg_control_system() s, pg_database d WHERE d.datname = current_database()";

    @Override
    protected String storeUrl() {
        return url() + "&holdfast.unlogged=true";
    }

    @Override
    String name() {
        return "postgresql-unlogged";
    }

    /** Without the row that it inserts, which is compared as it is by now. */
    @Override
    List<String> createTable() {
        return dialect().createUnlogged("holdfast_lock").stream()
                .filter(statement -> statement.startsWith("CREATE"))
                .toList();
    }

    @Override
    protected List<String> tables() {
        List<String> all = new ArrayList<>(super.tables());
        all.add("holdfast_lock_restart");
        return all;
    }

    /** The identity of the table, which is another one in each run, as the query for it. */
    @Override
    protected List<String> stored() throws SQLException {
        String identity;
        try (Connection connection = connect()) {
            identity = SqlSession.only(connection, IDENTITY, row -> row.getString(1));
        }
        return super.stored().stream()
                .map(command -> command.replace("'" + identity + "'", "(" + IDENTITY + ")"))
                .toList();
    }
}
