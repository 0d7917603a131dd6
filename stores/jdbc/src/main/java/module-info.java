/** Locks kept in a SQL database: a server's, or SQLite's in a file of this machine. */
module dev.holdfast.jdbc {
    requires transitive dev.holdfast.core;
    requires transitive java.sql;
    requires org.xerial.sqlitejdbc;
    requires static org.checkerframework.checker.qual;
    requires static org.jspecify;
    requires static org.postgresql.jdbc;

    exports dev.holdfast.jdbc;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.jdbc.JdbcStoreProvider;
}
