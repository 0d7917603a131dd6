package dev.holdfast.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.ArrayList;
import java.util.List;

/**
 * What a store changes of a connection, and how the connection was before: an application's pool gets it back as it lent
 * it. For one thread.
 */
final class LentConnection {
    private final Connection connection;
    private final List<String> undo = new ArrayList<>();
    private boolean autoCommit = true;
    private int answerMillis;
    private int isolation = Connection.TRANSACTION_NONE;

    LentConnection(Connection connection) {
        this.connection = connection;
    }

    /** Autocommit, and a limit to answers; nothing that the server keeps. */
    void begin() throws SQLException {
        autoCommit = connection.getAutoCommit();
        if (!autoCommit) {
            connection.setAutoCommit(true);
        }
        try {
            answerMillis = connection.getNetworkTimeout();
        } catch (SQLFeatureNotSupportedException e) {
            // a database inside this process answers or has ended
        }
        TableOpener.limitAnswers(connection, TableOpener.ANSWER_MILLIS);
    }

    /**
     * READ COMMITTED, and what else the caller sets on the session.
     *
     * @param settingBack the statements that set back what the caller is about to set
     */
    void take(List<String> settingBack) throws SQLException {
        int before = connection.getTransactionIsolation();
        if (before != Connection.TRANSACTION_READ_COMMITTED) {
            isolation = before;
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
        undo.addAll(settingBack);
    }

    /** Sets all back, each on its own; a connection that is broken is for its pool to see to. Throws nothing. */
    void end() {
        for (String each : undo) {
            setBack(() -> SqlSession.execute(connection, each));
        }
        if (isolation != Connection.TRANSACTION_NONE) {
            setBack(() -> connection.setTransactionIsolation(isolation));
        }
        setBack(() -> TableOpener.limitAnswers(connection, answerMillis));
        if (!autoCommit) {
            setBack(() -> connection.setAutoCommit(false));
        }
    }

    private interface Step {
        void run() throws SQLException;
    }

    private static void setBack(Step step) {
        try {
            step.run();
        } catch (Throwable e) { // of an older pool, which lacks the method
            SqlSession.log(System.Logger.Level.DEBUG, "setting a connection back failed", e);
        }
    }
}
