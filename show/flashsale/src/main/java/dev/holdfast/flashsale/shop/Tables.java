package dev.holdfast.flashsale.shop;

import dev.holdfast.jdbc.JdbcFence;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The tables of the sale, and what stands in them when it opens. Tables that were there before are neither written nor
 * dropped. {@link #create} and {@link #drop} are for one thread at a time; the rest is thread-safe.
 */
final class Tables {
    /** Replaced by a collation where that of the database takes "a" for "A": they are two keys. */
    private static final String EXACT = "/* exact */";

    private static final List<String> TABLES = List.of(
            "flashsale_sale (id VARCHAR(100) PRIMARY KEY, guard VARCHAR(40) NOT NULL, stock INT NOT NULL, gap_millis"
                    + " INT NOT NULL, opening BIGINT NOT NULL, remaining BIGINT NOT NULL, version BIGINT NOT NULL)",
            "flashsale_order (sale VARCHAR(100) NOT NULL, order_key VARCHAR(100) " + EXACT
                    + " NOT NULL, quantity INT NOT NULL,"
                    + " node VARCHAR(40) NOT NULL, seen BIGINT, read_at BIGINT, written_at BIGINT NOT NULL, PRIMARY KEY (sale, order_key))",
            "flashsale_segment (sale VARCHAR(100) NOT NULL, segment INT NOT NULL, pieces BIGINT NOT NULL,"
                    + " token BIGINT NOT NULL, PRIMARY KEY (sale, segment))",
            "flashsale_refusal (sale VARCHAR(100) NOT NULL, number INT NOT NULL, node VARCHAR(40) NOT NULL,"
                    + " token BIGINT NOT NULL, admitted BIGINT NOT NULL, read_at BIGINT NOT NULL, refused_at BIGINT NOT NULL,"
                    + " PRIMARY KEY (sale, number))",
            "flashsale_note (name VARCHAR(200) PRIMARY KEY, amount BIGINT, token BIGINT NOT NULL)");
    /** Those of the textbooks' locks. */
    private static final List<String> LADDER_TABLES = List.of(
            "occupied (name VARCHAR(200) PRIMARY KEY, state VARCHAR(20) NOT NULL)",
            "locked (name VARCHAR(200) PRIMARY KEY)",
            "owned (name VARCHAR(200) PRIMARY KEY, owner VARCHAR(200) NOT NULL, depth INT NOT NULL)",
            "leased (name VARCHAR(200) PRIMARY KEY, beat TIMESTAMP NOT NULL)");

    private final JdbcTemplate template;
    private final JdbcClient sql;
    private final Deque<String> created = new ArrayDeque<>();

    Tables(JdbcTemplate template) {
        this.template = template;
        this.sql = JdbcClient.create(template);
    }

    /**
     * Creates the tables, and that of the fence.
     *
     * @throws IllegalStateException if one of them is there already; {@link #drop} removes those made before it
     */
    void create(JdbcFence fence) {
        String database = Objects.requireNonNull(template.execute((ConnectionCallback<String>)
                connection -> connection.getMetaData().getDatabaseProductName().toLowerCase(Locale.ROOT)));
        boolean foldsCase = database.contains("mariadb") || database.contains("mysql");
        for (String table : TABLES) {
            createNew(table.replace(EXACT, foldsCase ? "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin" : ""));
        }
        LADDER_TABLES.forEach(this::createNew);
        createNew(fence.script(database)
                .replace("CREATE TABLE IF NOT EXISTS ", "")
                .replace(";", "")
                .strip());
    }

    /** Only a CREATE that would fail if the table were there proves that the table is this sale's. */
    private void createNew(String table) {
        String name = name(table);
        try {
            template.execute("CREATE TABLE " + table);
        } catch (DataAccessException failure) {
            if (exists(name)) {
                throw new IllegalStateException(
                        "the database already has a table " + name
                                + ": another sale is running on it, a killed sale left the table, or it is yours."
                                + " The table was not changed. Use another database; if a killed sale left its"
                                + " tables, drop flashsale_…, occupied, locked, owned and leased",
                        failure);
            }
            throw failure;
        }
        created.add(name);
    }

    private boolean exists(String name) {
        try {
            template.execute("SELECT 1 FROM " + name + " WHERE 1 = 0");
            return true;
        } catch (DataAccessException absent) {
            return false;
        }
    }

    private static String name(String table) {
        return table.substring(0, table.indexOf(' '));
    }

    /**
     * Drops the tables that were created here.
     *
     * @throws IllegalStateException if that fails; it names those that remain
     */
    void drop() {
        try {
            while (!created.isEmpty()) {
                template.execute("DROP TABLE IF EXISTS " + created.getLast());
                created.removeLast();
            }
        } catch (DataAccessException away) {
            throw new IllegalStateException(
                    "the tables " + String.join(", ", created) + " remain: " + away.getMessage(), away);
        }
    }

    /** Opens a sale with its whole stock and no orders; one of that id ends. In the transaction of its caller. */
    void open(String id, String guard, int stock, int gapMillis) {
        long opening = System.currentTimeMillis();
        for (String table : LADDER_TABLES) {
            sql.sql("DELETE FROM " + name(table) + " WHERE name LIKE ?")
                    .param("flashsale-" + id + "-%")
                    .update();
        }
        for (String table : List.of("flashsale_order", "flashsale_segment", "flashsale_refusal")) {
            sql.sql("DELETE FROM " + table + " WHERE sale = ?").param(id).update();
        }
        sql.sql("DELETE FROM flashsale_sale WHERE id = ?").param(id).update();
        sql.sql("INSERT INTO flashsale_sale (id, guard, stock, gap_millis, opening, remaining, version)"
                        + " VALUES (?, ?, ?, ?, ?, ?, 0)")
                .params(id, guard, stock, gapMillis, opening, stock)
                .update();
        sql.sql("INSERT INTO occupied (name, state) VALUES (?, 'free')")
                .param(Sale.lockName(id, opening))
                .update();
        for (int i = 0; i < Shop.SEGMENTS; i++) {
            sql.sql("INSERT INTO flashsale_segment (sale, segment, pieces, token) VALUES (?, ?, ?, 0)")
                    .params(id, i, stock / Shop.SEGMENTS + (i < stock % Shop.SEGMENTS ? 1 : 0))
                    .update();
        }
    }
}
