/** Locks kept in a table of a SQL server. */
module dev.holdfast.jdbc {
    requires transitive dev.holdfast.core;
    requires transitive java.sql;
    requires static org.checkerframework.checker.qual;
    requires static org.jspecify;
    requires static org.postgresql.jdbc;

    exports dev.holdfast.jdbc;

    uses java.sql.Driver;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.jdbc.JdbcStoreProvider;
}
