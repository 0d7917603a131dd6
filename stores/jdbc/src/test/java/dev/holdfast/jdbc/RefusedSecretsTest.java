package dev.holdfast.jdbc;

import dev.holdfast.tck.SecretsContract;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;

/** Servers that refuse a log-in, a database or a parameter. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("thorough")
class RefusedSecretsTest extends SecretsContract {
    private final MariaDbServer mariadb = MariaDbServer.start();
    private final PostgresServer postgres = PostgresServer.start();

    @AfterAll
    void stop() {
        mariadb.close();
        postgres.close();
    }

    @Override
    protected List<String> urls() {
        String ofMariaDb = "//127.0.0.1:" + mariadb.port() + "/";
        String ofPostgres = "//127.0.0.1:" + postgres.port() + "/";
        return List.of(
                "jdbc:mariadb:" + ofMariaDb + "test?user=me&password=SECRET",
                "jdbc:mariadb:" + ofMariaDb + "nosuch?user=root&password=ENCODED",
                "jdbc:mariadb:" + ofMariaDb + "test?user=root&sessionVariables=nosuch=SECRET",
                "jdbc:mariadb:" + ofMariaDb + "test?user=me",
                "jdbc:mysql:" + ofMariaDb + "test?user=me&password=SECRET",
                "jdbc:mysql:" + ofMariaDb + "test?user=root&PASSWORD=ENCODED",
                "jdbc:mysql:" + ofMariaDb + "test?user=root&sslMode=REQUIRED&keyStorePassword=SECRET",
                "jdbc:postgresql:" + ofPostgres + "nosuch?user=postgres&password=SECRET",
                "jdbc:postgresql:" + ofPostgres + "postgres?user=me&password=ENCODED",
                "jdbc:postgresql:" + ofPostgres + "postgres?user=postgres&options=-c%20nosuch=SECRET",
                "jdbc:postgresql:" + ofPostgres + "postgres?user=postgres&sslmode=require&sslpassword=SECRET");
    }
}
