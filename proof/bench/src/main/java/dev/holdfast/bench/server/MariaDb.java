package dev.holdfast.bench.server;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.ServerProcess;
import java.util.Map;
import java.util.Optional;

/** MariaDB with its default durability: every commit is forced to disk. */
final class MariaDb implements Server {
    private final MariaDbServer server = MariaDbServer.start("--max-connections=1000");
    private final Database database = new Database(server.jdbcUrl());

    MariaDb() {
        database.execute("set session wait_timeout = 31536000"); // a year, where the clock is moved
    }

    @Override
    public StoreKind kind() {
        return StoreKind.MARIADB;
    }

    @Override
    public String url() {
        return server.jdbcUrl();
    }

    @Override
    public Optional<ServerProcess> process() {
        return Optional.of(server.process());
    }

    @Override
    public String settings() {
        return "MariaDB " + database.text("select version()") + ", innodb_flush_log_at_trx_commit="
                + database.text("select @@innodb_flush_log_at_trx_commit") + ", "
                + database.text("select @@tx_isolation") + ", max_connections=1000";
    }

    @Override
    public Map<String, Double> counters() {
        Map<String, Double> status = database.numbers("show global status");
        return Map.of(
                "statements", status.getOrDefault("Questions", 0.0),
                "log bytes", status.getOrDefault("Innodb_os_log_written", 0.0),
                "rows changed",
                        status.getOrDefault("Handler_write", 0.0)
                                + status.getOrDefault("Handler_update", 0.0)
                                + status.getOrDefault("Handler_delete", 0.0));
    }

    @Override
    public Map<String, Double> residue() {
        return Map.of(
                "rows",
                database.number("select count(*) from holdfast_lock"),
                "bytes",
                database.number("select coalesce(sum(data_length + index_length), 0) from information_schema.tables"
                        + " where table_schema = 'test'"));
    }

    @Override
    public void close() {
        database.close();
        server.close();
    }
}
