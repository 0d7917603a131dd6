package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.OnceRun;
import dev.holdfast.StoreRefusedException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** H2 with the settings by which it imitates other databases. */
@Tag("thorough")
class H2ModesTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "MODE=REGULAR",
                "MODE=STRICT",
                "MODE=LEGACY",
                "MODE=DB2",
                "MODE=Derby",
                "MODE=HSQLDB",
                "MODE=MSSQLServer",
                "MODE=MariaDB",
                "MODE=MySQL",
                "MODE=PostgreSQL",
                "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH",
                "MODE=MySQL;DATABASE_TO_LOWER=TRUE;CASE_INSENSITIVE_IDENTIFIERS=TRUE",
                "DATABASE_TO_UPPER=FALSE",
                "DATABASE_TO_UPPER=FALSE;CASE_INSENSITIVE_IDENTIFIERS=TRUE",
            })
    void locksRecordsFencesAndRowsWorkInEachMode(String settings) throws Exception {
        String url = "jdbc:h2:mem:" + settings.replaceAll("\\W", "") + ";DB_CLOSE_DELAY=-1;" + settings;
        try (LockClient client = LockClient.connect(url);
                LockClient other = LockClient.connect(url)) {
            try (Hold hold = client.lock("x").acquire()) {
                assertThat(hold.isValid()).isTrue();
                assertThat(other.lock("x").tryAcquire()).isEmpty();
                assertThat(client.list("*")).extracting(LockStatus::name).containsExactly("x");
            }
            try (Hold reading = client.readWriteLock("shared").read().acquire();
                    Hold too = other.readWriteLock("shared").read().acquire()) {
                assertThat(reading.isValid() && too.isValid()).isTrue();
            }
            client.once("job").run(turn -> {});
            assertThat(other.onceRuns("*")).extracting(OnceRun::name).containsExactly("job");
        }
        new JdbcStoreProvider().openFence(url, Optional.empty()).check("resource", 7);
        try (Connection connection = DriverManager.getConnection(url)) {
            connection.setAutoCommit(false);
            JdbcLocks.on(PlainDataSource.of(url)).inTransaction(connection).lock("row");
            connection.rollback();
        }
        try (Connection connection = DriverManager.getConnection(url);
                SqlSession session = new SqlSession(connection)) {
            RowSql sql = new RowSql(new H2Dialect(), "holdfast_lock");
            IdleRows idle = new IdleRows(new H2Dialect(), sql, session);
            assertThat(idle.remove("", java.time.Duration.ofHours(1))).isEmpty();
            for (String each : JdbcSchema.script("h2").split(";\\s*\\n")) {
                session.execute(each);
            }
        }
    }

    @Test
    void oracleModeIsRefusedAtOpenWithTheCause() {
        assertThatThrownBy(() -> LockClient.connect("jdbc:h2:mem:oracle;MODE=Oracle"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("MODE=Oracle")
                .hasMessageContaining("NULL");
    }
}
