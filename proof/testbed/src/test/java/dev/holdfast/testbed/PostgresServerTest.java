package dev.holdfast.testbed;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static dev.holdfast.testbed.Sql.ask;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("thorough")
class PostgresServerTest {
    @Test
    void itTakesOptionsAndKeepsWhatItWasToldOverAKill() throws SQLException {
        try (PostgresServer postgres = orSkip(() -> PostgresServer.start("-c", "max_connections=150"))) {
            assertThat(ask(postgres.jdbcUrl(), "show max_connections")).isEqualTo("150");
            assertThat(ask(postgres.jdbcUrl(), "show fsync")).isEqualTo("on");
            ask(postgres.jdbcUrl(), "create table kept as select 7 as number");
            int port = postgres.port();
            postgres.process().kill();
            assertThatThrownBy(() -> ask(postgres.jdbcUrl(), "select 1")).isInstanceOf(SQLException.class);
            postgres.process().restart();
            assertThat(postgres.port()).isEqualTo(port);
            assertThat(ask(postgres.jdbcUrl(), "select number from kept")).isEqualTo("7");
        }
    }

    @Test
    void aStoppedServerAnswersOnlyWhenContinued() throws SQLException {
        try (PostgresServer postgres = orSkip(PostgresServer::start)) {
            postgres.process().stop();
            assertThatThrownBy(() -> ask(postgres.jdbcUrl() + "&loginTimeout=1", "select 1"))
                    .isInstanceOf(SQLException.class);
            postgres.process().cont();
            assertThat(ask(postgres.jdbcUrl(), "select 1")).isEqualTo("1");
        }
    }

    @Test
    void itIsFoundInItsJarWhereNoneIsInstalled() {
        Path programs = PostgresInJar.OF_THIS_JVM.programs().orElseThrow();
        assertThat(PostgresInJar.OF_THIS_JVM.programs()).contains(programs);
        assertThat(programs.resolve("postgres")).matches(Files::isExecutable);
        assertThat(programs.resolve("initdb")).matches(Files::isExecutable);
        assertThat(new PostgresInJar("Plan 9", "mips", null).programs()).isEmpty();
    }

    @Test
    void thePackedOneIsNamedByTheSystemAndTheProcessor() {
        assertThat(new PostgresInJar("Linux", "amd64", null))
                .hasToString("postgres-linux-x86_64.txz on the class path");
        assertThat(new PostgresInJar("Linux", "aarch64", null))
                .hasToString("postgres-linux-arm_64.txz on the class path");
    }
}
