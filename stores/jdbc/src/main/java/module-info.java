/** Locks kept in a SQL database; for now SQLite, in a file of this machine. */
module dev.holdfast.jdbc {
    requires transitive dev.holdfast.core;
    requires java.sql;
    requires org.xerial.sqlitejdbc;
    requires static org.jspecify;

    exports dev.holdfast.jdbc;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.jdbc.JdbcStoreProvider;
}
