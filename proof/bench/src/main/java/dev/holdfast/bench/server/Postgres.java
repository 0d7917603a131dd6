package dev.holdfast.bench.server;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.ServerProcess;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** PostgreSQL with its default durability: every commit is forced to disk. A process for each connection. */
final class Postgres implements Server {
    private static final String CONNECTIONS = "max_connections=1000";

    private final PostgresServer server;
    private final Database database;
    private final boolean countsStatements;

    Postgres() {
        server = PostgresServer.start("-c", CONNECTIONS, "-c", "shared_preload_libraries=pg_stat_statements");
        database = new Database(server.jdbcUrl());
        countsStatements = canCountStatements();
    }

    @Override
    public StoreKind kind() {
        return StoreKind.POSTGRESQL;
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
        return "PostgreSQL " + database.text("show server_version") + ", fsync=" + database.text("show fsync")
                + ", synchronous_commit=" + database.text("show synchronous_commit") + ", "
                + database.text("show default_transaction_isolation") + ", " + CONNECTIONS;
    }

    @Override
    public Map<String, Double> counters() {
        Map<String, Double> counters = new TreeMap<>();
        counters.put("WAL bytes", database.number("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"));
        if (countsStatements) {
            counters.put("statements", database.number("select coalesce(sum(calls), 0) from pg_stat_statements"));
        }
        return counters;
    }

    @Override
    public Map<String, Double> residue() {
        return Map.of(
                "rows", database.number("select count(*) from holdfast_lock"),
                "bytes", database.number("select sum(pg_total_relation_size(relid)) from pg_stat_user_tables"));
    }

    @Override
    public Duration cpuTime() {
        return ProcessTree.cpuTime(server.process().pid());
    }

    @Override
    public void close() {
        database.close();
        server.close();
    }

    private boolean canCountStatements() {
        try {
            database.execute("create extension pg_stat_statements");
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }
}
