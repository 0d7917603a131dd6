package dev.holdfast.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** Where the connections of a store come from. Thread-safe. */
@FunctionalInterface
interface Connections {
    /** One more connection; may block for a few seconds. */
    Connection open() throws SQLException;
}
