package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.OnceRun;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What names mean on PostgreSQL: of locks, in encodings with few characters; of schemas, as they are written. */
@Timeout(180)
@Tag("thorough")
class PostgresNamesTest {
    @Started
    private static PostgresServer server;

    @BeforeAll
    static void createDatabases() throws Exception {
        for (String encoding : List.of("latin1", "euc_jp", "sql_ascii")) {
            sql("CREATE DATABASE " + encoding + " ENCODING '" + encoding + "' TEMPLATE template0");
        }
    }

    // ---- encodings ----

    @ParameterizedTest
    @CsvSource({
        "latin1, '', M\u00fcller ? ?",
        "latin1, &mode=session, M\u00fcller ? ?",
        "euc_jp, '', M?ller ? ?",
        "euc_jp, &mode=session, M?ller ? ?",
        "sql_ascii, '', M\u00fcller \u2013 \ud83d\udd12",
        "sql_ascii, &mode=session, M\u00fcller \u2013 \ud83d\udd12",
        "postgres, '', M\u00fcller \u2013 \ud83d\udd12",
        "postgres, &mode=session, M\u00fcller \u2013 \ud83d\udd12",
    })
    void aTextForPeopleKeepsWhatTheEncodingOfTheDatabaseHas(String database, String mode, String shown)
            throws Exception {
        try (LockClient client = LockClient.builder(url(database) + mode)
                        .label("M\u00fcller \u2013 \ud83d\udd12")
                        .build();
                Hold hold = client.lock("texts").acquire()) {
            assertThat(hold.isValid()).isTrue();
            assertThat(client.lock("texts")
                            .status()
                            .grant()
                            .orElseThrow()
                            .holder()
                            .label())
                    .isEqualTo(shown);
            assertThat(client.list("te*")).extracting(LockStatus::name).containsExactly("texts");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "latin1, ''",
        "latin1, &mode=session",
        "euc_jp, ''",
        "sql_ascii, ''",
        "postgres, ''",
        "postgres, &mode=session"
    })
    void aListHasTheNamesThatBeginWithThePrefixAndNoOthers(String database, String mode) throws Exception {
        String beta = "\u03b2";
        String end = database.equals("latin1") ? "\u00ff" : beta;
        try (LockClient client = LockClient.connect(url(database) + mode)) {
            List<String> names = List.of("a~", "a~b", "b", "b" + end, "b" + end + end, "c", end, end + "z");
            for (String name : names) {
                assertThat(client.lock(name).acquire().isValid()).isTrue();
            }
            assertThat(listed(client, "")).containsExactlyInAnyOrderElementsOf(names);
            assertThat(listed(client, "a~")).containsExactly("a~", "a~b");
            assertThat(listed(client, "b")).containsExactly("b", "b" + end, "b" + end + end);
            assertThat(listed(client, "b" + end)).containsExactly("b" + end, "b" + end + end);
            assertThat(listed(client, end)).containsExactly(end, end + "z");
            assertThat(listed(client, "d")).isEmpty();
        }
    }

    @Test
    void recordsAreListedInAnyEncoding() throws Exception {
        try (LockClient client =
                LockClient.builder(url("latin1")).label("night \u2013 shift").build()) {
            client.once("job:a").run(run -> {});
            client.once("job:\u00ff").run(run -> {});
            client.once("other").run(run -> {});
            assertThat(client.onceRuns("job:*")).extracting(OnceRun::name).containsExactly("job:a", "job:\u00ff");
            assertThat(client.onceRuns("*")).hasSize(3);
        }
    }

    @ParameterizedTest
    @CsvSource({"''", "&mode=session"})
    @Timeout(20)
    void aNameThatTheDatabaseCannotKeepIsRefusedAtOnce(String mode) throws Exception {
        try (LockClient client = LockClient.connect(url("latin1") + mode)) {
            for (String name : List.of("order \u2013 42", "\ud83d\udd12")) {
                assertThatThrownBy(() -> client.lock(name).acquire())
                        .isInstanceOf(StoreRefusedException.class)
                        .hasMessageContaining(name)
                        .hasMessageContaining("encoding")
                        .hasMessageContaining("UTF8");
                assertThatThrownBy(() -> client.lock(name).tryAcquire(Duration.ofMinutes(1)))
                        .isInstanceOf(StoreRefusedException.class);
            }
            client.lock("order 42").acquire().close();
        }
    }

    // ---- schemas ----

    @ParameterizedTest
    @CsvSource({"MyApp, ''", "MyApp, &mode=session", "plain, ''", "plain, &mode=session"})
    void aSchemaIsTheOneThatIsWritten(String schema, String mode) throws Exception {
        sql("DROP SCHEMA IF EXISTS \"" + schema + "\" CASCADE", "CREATE SCHEMA \"" + schema + "\"");
        String url = url("postgres") + "&holdfast.schema=" + schema + mode;
        try (LockClient client = LockClient.connect(url);
                Hold hold = client.lock("x").acquire()) {
            assertThat(hold.isValid()).isTrue();
            assertThat(client.store())
                    .endsWith(", table " + schema + ".holdfast_lock" + (mode.isEmpty() ? "" : "_session"));
            assertThat(listed(client, "")).containsExactly("x");
            if (mode.isEmpty()) {
                client.once("job").run(run -> {});
                assertThat(client.onceRuns("*")).hasSize(1);
            }
        }
        try (Connection connection = DriverManager.getConnection(url("postgres"))) {
            connection.setAutoCommit(false);
            JdbcLocks.on(
                            PlainDataSource.of(url("postgres")),
                            JdbcOptions.defaults().schema(schema))
                    .inTransaction(connection)
                    .lock("row");
            connection.rollback();
        }
        new JdbcStoreProvider().openFence(url, Optional.empty()).check("resource", 7);
        assertThat(tables(schema))
                .contains(
                        "holdfast_fence",
                        "holdfast_lock_row",
                        mode.isEmpty() ? "holdfast_lock_record" : "holdfast_lock_session");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "&mode=session",
                "&holdfast.createTable=false",
                "&holdfast.createTable=false&mode=session",
            })
    void aSchemaThatIsMissingIsNamedAndNoSqlAdvised(String more) {
        assertThatThrownBy(() -> LockClient.connect(url("postgres") + "&holdfast.schema=Nowhere" + more))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("schema \"Nowhere\" does not exist; create it")
                .hasMessageNotContaining("holdfast schema");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "&mode=session",
                "&holdfast.createTable=false",
                "&holdfast.createTable=false&mode=session",
            })
    void anEmptySearchPathIsSaidAndNoSqlAdvised(String more) throws Exception {
        sql("DROP ROLE IF EXISTS lost", "CREATE ROLE lost LOGIN", "ALTER ROLE lost SET search_path = ''");
        String url = server.jdbcUrl().replace("user=postgres", "user=lost");
        assertThatThrownBy(() -> LockClient.connect(url + more))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("search_path")
                .hasMessageContaining("holdfast.schema")
                .hasMessageNotContaining("'holdfast schema");
    }

    private static String url(String database) {
        return server.jdbcUrl().replace("/postgres?", "/" + database + "?");
    }

    private static List<String> listed(LockClient client, String prefix) {
        return client.list(prefix + "*").stream().map(LockStatus::name).toList();
    }

    private static List<String> tables(String schema) throws Exception {
        try (SqlSession session = new SqlSession(DriverManager.getConnection(server.jdbcUrl()))) {
            return session.each(
                    "SELECT tablename FROM pg_tables WHERE schemaname = '" + schema + "'", row -> row.getString(1));
        }
    }

    private static void sql(String... statements) throws Exception {
        Sql.run(server.jdbcUrl(), statements);
    }
}
