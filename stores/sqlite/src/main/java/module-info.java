/** Locks kept in a SQLite file, shared by the processes of one machine. */
module dev.holdfast.sqlite {
    requires transitive dev.holdfast.core;
    requires transitive java.sql;
    requires org.xerial.sqlitejdbc;
    requires static org.jspecify;

    exports dev.holdfast.sqlite;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.sqlite.SqliteStoreProvider;
}
