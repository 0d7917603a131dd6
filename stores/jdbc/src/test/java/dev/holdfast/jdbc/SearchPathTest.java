package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockClient;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The settings of two users lead to a table each: their locks do not exclude each other, and both are warned. */
@Timeout(180)
@Tag("thorough")
class SearchPathTest {
    @ParameterizedTest
    @CsvSource({"'', holdfast_lock", "&mode=session, holdfast_lock_session"})
    void theTableThatTheSearchPathLedToIsNamedAndASecondOneWarnedOf(String mode, String table) throws Exception {
        try (PostgresServer server = orSkip(() -> PostgresServer.start());
                Warnings ear = new Warnings("dev.holdfast.jdbc")) {
            for (String user : List.of("ann", "bob")) {
                Sql.run(
                        server.jdbcUrl(),
                        "CREATE ROLE " + user + " LOGIN",
                        "CREATE SCHEMA AUTHORIZATION " + user,
                        "GRANT CREATE ON SCHEMA public TO " + user);
            }
            String ann = server.jdbcUrl().replace("user=postgres", "user=ann") + mode;
            String bob = server.jdbcUrl().replace("user=postgres", "user=bob") + mode;
            assertThat(store(ann)).isEqualTo(shown(server) + ", table ann." + table);
            assertThat(ear.lines()).isEmpty();
            assertThat(store(bob)).isEqualTo(shown(server) + ", table bob." + table);
            assertThat(ear.lines())
                    .singleElement()
                    .asString()
                    .contains(shown(server), "table bob." + table, "[ann]", "holdfast.schema");
            ear.lines().clear();
            assertThat(store(ann + "&holdfast.schema=public")).endsWith(", table public." + table);
            assertThat(ear.lines()).isEmpty(); // that was meant
        }
    }

    /** An older client, or a script, may write the name without quotes. */
    @ParameterizedTest
    @ValueSource(strings = {"", "&mode=session"})
    void aSecondTableInASchemaThatDiffersInTheCaseOfLettersIsWarnedOf(String mode) throws Exception {
        try (PostgresServer server = orSkip(() -> PostgresServer.start());
                Warnings ear = new Warnings("dev.holdfast.jdbc")) {
            Sql.run(server.jdbcUrl(), "CREATE SCHEMA myschema", "CREATE SCHEMA \"MySchema\"", "CREATE SCHEMA other");
            String url = server.jdbcUrl() + mode + "&holdfast.schema=";
            store(url + "other");
            store(url + "myschema");
            assertThat(ear.lines()).isEmpty();
            store(url + "MySchema");
            assertThat(ear.lines()).singleElement().asString().contains("table MySchema.", "schemas [myschema]");
            store(url + "myschema");
            assertThat(ear.lines()).hasSize(2).last().asString().contains("table myschema.", "schemas [MySchema]");
        }
    }

    @Test
    void theDatabaseOnMariaDbIsNamed() throws Exception {
        try (MariaDbServer server = orSkip(() -> MariaDbServer.start());
                Warnings ear = new Warnings("dev.holdfast.jdbc")) {
            Sql.run(server.jdbcUrl(), "CREATE DATABASE other");
            assertThat(store(server.jdbcUrl())).endsWith("/test, table test.holdfast_lock");
            assertThat(store(server.jdbcUrl() + "&holdfast.schema=other")).endsWith("/test, table other.holdfast_lock");
            assertThat(store(server.jdbcUrl() + "&mode=session")).endsWith("/test, table test.holdfast_lock_session");
            assertThat(ear.lines()).isEmpty();
        }
    }

    @Test
    void theSchemaOnH2IsNamedAndASecondTableWarnedOf() throws Exception {
        String url = "jdbc:h2:mem:searched";
        try (Connection open = DriverManager.getConnection(url);
                Statement statement = open.createStatement();
                Warnings ear = new Warnings("dev.holdfast.jdbc")) {
            statement.execute("CREATE SCHEMA OTHER");
            assertThat(store(url)).isEqualTo(url + ", table PUBLIC.holdfast_lock");
            assertThat(ear.lines()).isEmpty();
            assertThat(store(url + ";SCHEMA=OTHER")).isEqualTo(url + ", table OTHER.holdfast_lock");
            assertThat(ear.lines()).singleElement().asString().contains("table OTHER.holdfast_lock", "[PUBLIC]");
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
}
