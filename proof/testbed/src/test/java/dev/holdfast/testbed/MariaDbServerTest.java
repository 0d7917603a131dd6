package dev.holdfast.testbed;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static dev.holdfast.testbed.Sql.ask;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("thorough")
class MariaDbServerTest {
    @Test
    void itTakesOptionsAndKeepsWhatItWasToldOverAKill() throws SQLException {
        try (MariaDbServer mariadb = orSkip(() -> MariaDbServer.start("--max-connections=150"))) {
            assertThat(ask(mariadb.jdbcUrl(), "select @@max_connections")).isEqualTo("150");
            assertThat(ask(mariadb.jdbcUrl(), "select @@innodb_flush_log_at_trx_commit"))
                    .isEqualTo("1");
            ask(mariadb.jdbcUrl(), "create table kept as select 7 as number");
            int port = mariadb.port();
            mariadb.process().kill();
            assertThatThrownBy(() -> ask(mariadb.jdbcUrl(), "select 1")).isInstanceOf(SQLException.class);
            mariadb.process().restart();
            assertThat(mariadb.port()).isEqualTo(port);
            assertThat(ask(mariadb.jdbcUrl(), "select number from kept")).isEqualTo("7");
        }
    }

    @Test
    void aServerThatStartsLeavesTheTemporaryTablesOfAnother() throws SQLException {
        try (MariaDbServer mariadb = orSkip(MariaDbServer::start);
                Connection connection = DriverManager.getConnection(mariadb.jdbcUrl());
                Statement statement = connection.createStatement()) {
            statement.execute("create temporary table brief (number int) engine = aria");

            MariaDbServer.start().close();

            statement.execute("alter table brief add other int");
            statement.execute("drop temporary table brief");
        }
    }

    @Test
    void aStoppedServerAnswersOnlyWhenContinued() throws SQLException {
        try (MariaDbServer mariadb = orSkip(MariaDbServer::start)) {
            mariadb.process().stop();
            assertThatThrownBy(() -> ask(mariadb.jdbcUrl() + "&connectTimeout=500&socketTimeout=500", "select 1"))
                    .isInstanceOf(SQLException.class);
            mariadb.process().cont();
            assertThat(ask(mariadb.jdbcUrl(), "select 1")).isEqualTo("1");
        }
    }
}
