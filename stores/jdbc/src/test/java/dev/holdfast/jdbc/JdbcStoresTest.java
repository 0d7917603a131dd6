package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.h2.jdbcx.JdbcConnectionPool;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.sqlite.SQLiteDataSource;

/** Locks on the application's own DataSource. */
class JdbcStoresTest {
    @Started
    private static PostgresServer server;

    @TempDir
    Path folder;

    @Test
    void aPoolWhoseConnectionsAreAllTakenStillReleases() throws Exception {
        JdbcDataSource h2 = new JdbcDataSource();
        h2.setURL("jdbc:h2:" + folder.resolve("pooled"));
        JdbcConnectionPool pool = JdbcConnectionPool.create(h2);
        pool.setMaxConnections(4);
        pool.setLoginTimeout(1);
        List<Connection> taken = new ArrayList<>();
        try (LockClient client = LockClient.builder(JdbcStores.on(pool)).build()) {
            Hold hold = client.lock("x").acquire();
            taken.add(pool.getConnection());
            taken.add(pool.getConnection());
            assertThatThrownBy(pool::getConnection).isInstanceOf(SQLException.class);

            hold.close();

            client.lock("x").acquire().close();
            for (int i = 0; i < 10; i++) {
                client.lock("other" + i).acquire().close();
            }
        }
        for (Connection each : taken) {
            each.close();
        }
        pool.getConnection().close();
        pool.dispose();
    }

    @Test
    void connectionsComeBackAsTheyWent() throws Exception {
        PGSimpleDataSource postgres = new PGSimpleDataSource();
        postgres.setUrl(server.jdbcUrl());
        try (Connection application = postgres.getConnection()) {
            try (LockClient client = LockClient.builder(JdbcStores.on(
                            new OneConnection(application),
                            JdbcOptions.defaults().connections(1)))
                    .build()) {
                client.lock("x").acquire().close();
                assertThat(timeout(application)).isEqualTo("3s");
            }
            assertThat(timeout(application)).isEqualTo("0");
            assertThat(application.getNetworkTimeout()).isZero();
        }
    }

    @Test
    void settingsOfTheApplicationComeBackAsTheyWere() throws Exception {
        PGSimpleDataSource postgres = new PGSimpleDataSource();
        postgres.setUrl(server.jdbcUrl());
        try (Connection application = postgres.getConnection()) {
            execute(
                    application,
                    "SET statement_timeout = '77s'",
                    "SET plan_cache_mode = 'force_custom_plan'",
                    "SET client_min_messages = 'error'");
            assertComesBackAsItWent(
                    application,
                    "SELECT current_setting('statement_timeout') || current_setting('plan_cache_mode') || current_setting('client_min_messages')");
        }
        try (Connection application = DriverManager.getConnection("jdbc:h2:mem:lent")) {
            execute(application, "SET LOCK_TIMEOUT 777");
            assertComesBackAsItWent(application, "SELECT LOCK_TIMEOUT()");
        }
        try (MariaDbServer mariaDb = orSkip(() -> MariaDbServer.start());
                Connection application = DriverManager.getConnection(mariaDb.jdbcUrl())) {
            execute(application, "SET sql_mode = 'ANSI', max_statement_time = 77.5, innodb_lock_wait_timeout = 7");
            assertComesBackAsItWent(
                    application, "SELECT concat(@@sql_mode, @@max_statement_time, ' ', @@innodb_lock_wait_timeout)");
        }
    }

    private static void assertComesBackAsItWent(Connection application, String settings) throws Exception {
        String before = ask(application, settings);
        application.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        application.setAutoCommit(false);
        boolean limited = application.getNetworkTimeout() == 0 && !settings.contains("LOCK_TIMEOUT()");
        if (limited) {
            application.setNetworkTimeout(Runnable::run, 9_000);
        }
        try (LockClient client = LockClient.builder(JdbcStores.on(
                        new OneConnection(application), JdbcOptions.defaults().connections(1)))
                .build()) {
            client.lock("x").acquire().close();
            assertThat(application.getAutoCommit()).isTrue();
        }
        assertThat(application.getAutoCommit()).isFalse();
        assertThat(application.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
        assertThat(application.getNetworkTimeout()).isEqualTo(limited ? 9_000 : 0);
        assertThat(ask(application, settings)).isEqualTo(before);
    }

    @Test
    void aTableThatCannotBeMadeLeavesNoLockOnTheSessionThatGoesBack() throws Exception {
        PGSimpleDataSource postgres = new PGSimpleDataSource();
        postgres.setUrl(server.jdbcUrl());
        try (Connection application = postgres.getConnection()) {
            execute(
                    application,
                    "CREATE SCHEMA closed",
                    "CREATE ROLE poor",
                    "GRANT USAGE ON SCHEMA closed TO poor",
                    "SET ROLE poor");
            JdbcOptions closed = JdbcOptions.defaults().schema("closed").connections(1);
            assertThatThrownBy(() -> LockClient.builder(JdbcStores.on(new OneConnection(application), closed))
                            .build())
                    .isInstanceOf(StoreRefusedException.class);

            assertThat(ask(application, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
                    .isEqualTo("0");
        }
    }

    private static void execute(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    private static String ask(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }

    private static String timeout(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SHOW statement_timeout")) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void aDatabaseThatIsNotSupportedIsRefusedByName() {
        SQLiteDataSource sqlite = new SQLiteDataSource();
        sqlite.setUrl("jdbc:sqlite:" + folder.resolve("x.db"));
        assertThatThrownBy(() -> LockClient.builder(JdbcStores.on(sqlite)).build())
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("SQLite")
                .hasMessageContaining("supported: PostgreSQL");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a-b", "1a", "a;b", "a b", "a\"", "a.b", "ä"})
    void namesOfTablesAndSchemasAreChecked(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JdbcOptions.defaults().table(name));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JdbcOptions.defaults().schema(name));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ' ',
            value = {
                "jdbc:postgresql://h1:1,h2:2/d?user=me&password=secret jdbc:postgresql://h1:1,h2:2/d",
                "jdbc:mariadb://address=(host=h)(password=secret)/d jdbc:mariadb:…",
                "jdbc:h2:tcp://h:1/./d;PASSWORD=secret jdbc:h2:tcp://h:1/./d",
                "jdbc:h2:mem:d;PASSWORD=secret jdbc:h2:mem:d",
            })
    void noPartOfAUrlThatMayHoldASecretIsShown(String url, String shown) {
        assertThat(ServerUrl.parse(url).orElseThrow().description()).isEqualTo(shown);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:mariadb://me:secret@h/d",
                "jdbc:mysql://me:secret@h:3306/d?useSsl=true",
                "jdbc:mariadb:sequential://me:secret@h1,h2/d",
                "jdbc:postgresql://me:secret@h1,h2/d",
                "jdbc:postgresql://me:secret@h1,me:secret@h2/d",
                "jdbc:postgresql:/h/d?password=secret",
                "jdbc:postgresql://h?user=me&password=secret",
                "jdbc:postgresql://me:sec/ret@h/d",
                "jdbc:postgresql://me:1?secret@h/d",
                "jdbc:h2:tcp://me:secret@h/./d",
            })
    void aUrlThatADriverMightPrintIsRefusedWithHowToWriteIt(String url) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ServerUrl.parse(url))
                .withMessageContaining("jdbc:mariadb://HOST:PORT/DATABASE?user=USER")
                .withMessageContaining("HOLDFAST_PASSWORD")
                .withMessageNotContaining("secret");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql:shop",
                "jdbc:postgresql:///shop",
                "jdbc:postgresql://[::1]:5432,db.example/shop?user=me@corp&password=a/b@c:d?e#f",
                "jdbc:mariadb://h",
                "jdbc:mariadb:sequential://h1:1,h2:2/d?user=me",
                "jdbc:mariadb://address=(host=h1)(port=1),address=(host=h2)/d",
                "jdbc:mysql://(host=h1,port=1),(host=h2,port=2)/d?useSsl",
                "jdbc:mysql:loadbalance://h1,h2/d",
                "jdbc:h2:~/locks",
                "jdbc:h2:file:/home/me@corp/locks;PASSWORD=a@b:c",
                "jdbc:h2:C:\\Users\\me@corp\\locks",
                "jdbc:h2:tcp://[::1]:9092/~/locks;USER=me"
            })
    void aUrlThatNoDriverMistakesIsTakenAsItIs(String url) {
        assertThat(ServerUrl.parse(url).orElseThrow().jdbcUrl()).isEqualTo(url);
    }

    @Test
    void thePasswordOfAKeyIsNotTheUsers() {
        assertThat(ServerUrl.properties(Map.of(), Optional.of("mine"), "jdbc:postgresql://h/d?sslpassword=x"))
                .containsEntry("password", "mine");
        assertThat(ServerUrl.properties(Map.of(), Optional.of("mine"), "jdbc:h2:x;PASSWORD=y"))
                .doesNotContainKey("password");
    }

    @Test
    void ourParametersAreTakenOutOfTheUrl() {
        ServerUrl url = ServerUrl.parse("jdbc:postgresql://h:1/d?holdfast.table=t&user=me&holdfast.schema=s&x=y")
                .orElseThrow();
        assertThat(url.jdbcUrl()).isEqualTo("jdbc:postgresql://h:1/d?user=me&x=y");
        assertThat(url.options().qualifiedTable()).isEqualTo("s.t");
        assertThat(url.description()).isEqualTo("jdbc:postgresql://h:1/d");
        assertThat(ServerUrl.parse("jdbc:h2:/a/b;holdfast.connections=2;USER=me")
                        .orElseThrow()
                        .jdbcUrl())
                .isEqualTo("jdbc:h2:/a/b;USER=me");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ServerUrl.parse("jdbc:postgresql://h/d?holdfast.tabel=x"))
                .withMessageContaining("holdfast.table");
    }
}
