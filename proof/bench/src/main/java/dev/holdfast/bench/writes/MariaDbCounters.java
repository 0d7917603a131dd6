package dev.holdfast.bench.writes;

import dev.holdfast.bench.server.Database;
import dev.holdfast.testbed.MariaDbServer;
import java.util.Map;

/** MariaDB with a binary log, whose bytes are also what goes to each replica. */
final class MariaDbCounters implements Counters {
    private final MariaDbServer server =
            MariaDbServer.start("--max-connections=300", "--log-bin=binlog", "--server-id=1");
    private final Database database = new Database(server.jdbcUrl());
    private final Database control = new Database(server.jdbcUrl());

    MariaDbCounters() {
        control.execute("create table control (id int auto_increment primary key, text longtext)");
    }

    @Override
    public String url() {
        return server.jdbcUrl();
    }

    @Override
    public String settings() {
        return "MariaDB " + database.text("select version()") + ", innodb_flush_log_at_trx_commit="
                + database.text("select @@innodb_flush_log_at_trx_commit") + ", sync_binlog="
                + database.text("select @@sync_binlog") + ", binlog_format="
                + database.text("select @@binlog_format");
    }

    @Override
    public Map<String, Double> counted() {
        return Quiet.after(() -> Map.of(
                "redo bytes", status("Innodb_lsn_current"),
                "fsyncs", status("Innodb_data_fsyncs"),
                "binlog bytes", status("Binlog_bytes_written"),
                "statements", status("Questions") - database.statements()));
    }

    @Override
    public Map<String, Double> kept() {
        return Map.of(
                "bytes of tables",
                database.number("select sum(file_size) from information_schema.innodb_sys_tablespaces"
                        + " where name like 'test/%'"));
    }

    @Override
    public void write(int bytes) {
        control.execute("insert into control (text) values (?)", "x".repeat(bytes));
    }

    @Override
    public void close() {
        control.close();
        database.close();
        server.close();
    }

    private double status(String name) {
        return Double.parseDouble(database.text("show global status like '" + name + "'", 2));
    }
}
