package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockClient;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The settings of two users lead to a table each: their locks do not exclude each other, and both are warned. */
@Timeout(180)
class SearchPathTest {
    @ParameterizedTest
    @CsvSource({"'', holdfast_lock", "&mode=session, holdfast_lock_session"})
    void theTableThatTheSearchPathLedToIsNamedAndASecondOneWarnedOf(String mode, String table) throws Exception {
        try (PostgresServer server = orSkip(() -> PostgresServer.start());
                Ear ear = new Ear()) {
            for (String user : List.of("ann", "bob")) {
                run(
                        server.jdbcUrl(),
                        "CREATE ROLE " + user + " LOGIN",
                        "CREATE SCHEMA AUTHORIZATION " + user,
                        "GRANT CREATE ON SCHEMA public TO " + user);
            }
            String ann = server.jdbcUrl().replace("user=postgres", "user=ann") + mode;
            String bob = server.jdbcUrl().replace("user=postgres", "user=bob") + mode;
            assertThat(store(ann)).isEqualTo(shown(server) + ", table ann." + table);
            assertThat(ear.warnings).isEmpty();
            assertThat(store(bob)).isEqualTo(shown(server) + ", table bob." + table);
            assertThat(ear.warnings)
                    .singleElement()
                    .asString()
                    .contains(shown(server), "table bob." + table, "[ann]", "holdfast.schema");
            ear.warnings.clear();
            assertThat(store(ann + "&holdfast.schema=public")).endsWith(", table public." + table);
            assertThat(ear.warnings).isEmpty(); // that was meant
        }
    }

    @Test
    void theDatabaseOnMariaDbIsNamed() throws Exception {
        try (MariaDbServer server = orSkip(() -> MariaDbServer.start());
                Ear ear = new Ear()) {
            run(server.jdbcUrl(), "CREATE DATABASE other");
            assertThat(store(server.jdbcUrl())).endsWith("/test, table test.holdfast_lock");
            assertThat(store(server.jdbcUrl() + "&holdfast.schema=other")).endsWith("/test, table other.holdfast_lock");
            assertThat(store(server.jdbcUrl() + "&mode=session")).endsWith("/test, table test.holdfast_lock_session");
            assertThat(ear.warnings).isEmpty();
        }
    }

    @Test
    void theSchemaOnH2IsNamedAndASecondTableWarnedOf() throws Exception {
        String url = "jdbc:h2:mem:searched";
        try (Connection open = DriverManager.getConnection(url);
                Statement statement = open.createStatement();
                Ear ear = new Ear()) {
            statement.execute("CREATE SCHEMA OTHER");
            assertThat(store(url)).isEqualTo(url + ", table PUBLIC.holdfast_lock");
            assertThat(ear.warnings).isEmpty();
            assertThat(store(url + ";SCHEMA=OTHER")).isEqualTo(url + ", table OTHER.holdfast_lock");
            assertThat(ear.warnings).singleElement().asString().contains("table OTHER.holdfast_lock", "[PUBLIC]");
        }
    }

    private static String shown(PostgresServer server) {
        return "jdbc:postgresql://127.0.0.1:" + server.port() + "/postgres";
    }

    private static String store(String url) throws InterruptedException {
        try (LockClient client = LockClient.connect(url)) {
            client.lock("x").acquire().close();
            return client.store();
        }
    }

    private static void run(String url, String... statements) throws Exception {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    /** Keeps what the store warns of. */
    private static final class Ear extends Handler implements AutoCloseable {
        private final List<String> warnings = new ArrayList<>();
        private final Logger logger = Logger.getLogger("dev.holdfast.jdbc");

        Ear() {
            logger.addHandler(this);
        }

        @Override
        public void publish(LogRecord line) {
            if (line.getLevel() == Level.WARNING) {
                warnings.add(line.getMessage());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            logger.removeHandler(this);
        }
    }
}
