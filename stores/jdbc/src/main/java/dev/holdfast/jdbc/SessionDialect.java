package dev.holdfast.jdbc;

import java.sql.SQLException;
import java.util.List;

/**
 * What is particular to one database in locks that end with their session. A lock of the server has a scope, which is that
 * of the table, and a number, which is that of the name's row: so no two names can ever have the same. Thread-safe.
 */
interface SessionDialect {
    /** The statement that makes the table; it changes nothing if it is there. */
    String createTable(String table);

    /** The query for the scope in which a table's locks are numbered, as the expressions below take it. */
    String scope(String table);

    /**
     * The expression that acquires a lock for the session; true if it has it.
     *
     * @param number an expression too
     * @param waits whether it waits in the server's queue
     */
    String lock(String scope, String number, boolean waits);

    /** The expression that gives it back. */
    String unlock(String scope, String number);

    /** The expression that gives back all that the session has. */
    String unlockAll();

    /** The expression for whether any session has it. */
    String held(String scope, String number);

    /** The expression for whether the server takes writes: one that does not is no primary, or no longer. */
    String writable();

    /** A query that a proxy which splits reads from writes must not send to a replica. */
    default String onPrimary(String query) {
        return query;
    }

    /** The expression that counts the sessions that wait for it. */
    String waiting(String scope, String number);

    /**
     * What a session sets for itself: the server ends it when nothing has come from it for so long.
     *
     * @param idleSeconds at least 1
     */
    void prepare(SqlSession session, long idleSeconds) throws SQLException;

    /** SQL states and error codes, as text, of a statement that was called off. */
    List<String> cancelled();

    /** What a user must know, one sentence each. */
    List<String> caveats();
}
