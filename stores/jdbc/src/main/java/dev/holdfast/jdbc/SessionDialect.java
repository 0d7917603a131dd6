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
     * The expression that acquires a lock for the session if it is free; true if the session has it.
     *
     * @param number an expression too
     */
    String tryLock(String scope, String number);

    /** Waits for a lock in the order of arrival. False if the wait was cancelled: the session may then have locks left. */
    boolean await(SessionWait wait, String scope, int number) throws SQLException;

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
     * What a session sets for itself.
     *
     * @param idleSeconds after which the server ends it when nothing has come from it, at least 1
     * @param blockedMillis after which a statement that somebody else's lock blocks fails
     */
    void prepare(SqlSession session, long idleSeconds, long blockedMillis) throws SQLException;

    /** How many locks one client may hold: the server may have room for few, which all its users share. */
    default int mostLocks(SqlSession session) throws SQLException {
        return Integer.MAX_VALUE;
    }

    /** The same change, whose commit waits neither for the disk nor for a standby, where the server can do so. */
    default String unforced(String update) {
        return update;
    }

    /** SQL states and error codes, as text, of a statement that was called off. */
    List<String> cancelled();

    /** What a user must know, one sentence each. */
    List<String> caveats();
}
