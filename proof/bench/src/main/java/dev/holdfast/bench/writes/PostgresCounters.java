package dev.holdfast.bench.writes;

import dev.holdfast.bench.run.Schedule;
import dev.holdfast.bench.server.Database;
import dev.holdfast.testbed.PostgresServer;
import java.time.Duration;
import java.util.Map;

/**
 * PostgreSQL without checkpoints and vacuum meanwhile: the whole pages that it logs after a checkpoint are no lock's own. A
 * server process reports what it counted when it ends, if not before.
 */
final class PostgresCounters implements Counters {
    private static final Duration SOON = Duration.ofMillis(5);
    private static final int VERSION_18 = 180_000;
    /** In each question, so that it can be left out of the count. */
    private static final String OWN = "/* counters */ ";

    private final PostgresServer server = PostgresServer.start(
            "-c", "max_connections=300",
            "-c", "autovacuum=off",
            "-c", "checkpoint_timeout=1d",
            "-c", "max_wal_size=10GB",
            "-c", "shared_preload_libraries=pg_stat_statements");
    private final Database database = new Database(server.jdbcUrl());
    private final String flushes;

    PostgresCounters() {
        database.execute("create extension pg_stat_statements");
        database.execute("create table control (id serial primary key, n int not null, text text)");
        database.execute("alter table control alter column text set storage external"); // not compressed
        database.execute("insert into control (n) values (0)");
        flushes = database.number(OWN + "show server_version_num") < VERSION_18
                ? "select wal_sync from pg_stat_wal"
                : "select sum(fsyncs) from pg_stat_io where object = 'wal'";
    }

    @Override
    public String url() {
        return server.jdbcUrl();
    }

    @Override
    public String settings() {
        return "PostgreSQL " + database.text(OWN + "show server_version") + ", synchronous_commit="
                + database.text(OWN + "show synchronous_commit") + ", no checkpoint and no vacuum meanwhile";
    }

    @Override
    public Map<String, Double> counted() {
        while (database.number(OWN + "select count(*) from pg_stat_activity"
                        + " where backend_type = 'client backend' and pid <> pg_backend_pid()")
                > 0) {
            Schedule.pause(SOON);
        }
        database.execute(OWN + "select pg_stat_force_next_flush()");
        return Map.of(
                "WAL bytes", database.number(OWN + "select pg_current_wal_insert_lsn() - '0/0'"),
                "flushes", database.number(OWN + flushes),
                // row versions made, and not alive
                "dead rows",
                        database.number(
                                OWN + "select sum(n_tup_ins + n_tup_upd - n_live_tup) from pg_stat_user_tables"),
                "statements",
                        database.number(
                                OWN + "select sum(calls) from pg_stat_statements where query not like '" + OWN + "%'"));
    }

    @Override
    public Map<String, Double> kept() {
        return Map.of(
                "bytes of tables",
                database.number(OWN + "select sum(pg_total_relation_size(relid)) from pg_stat_user_tables"));
    }

    @Override
    public void write(int bytes) {
        database.execute(
                "with changed as (update control set n = n + 1 where id = 1)"
                        + " insert into control (n, text) values (0, repeat('x', ?))",
                bytes);
    }

    @Override
    public void close() {
        database.close();
        server.close();
    }
}
