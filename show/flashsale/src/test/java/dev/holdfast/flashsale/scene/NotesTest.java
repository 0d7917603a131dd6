package dev.holdfast.flashsale.scene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StaleTokenException;
import dev.holdfast.recipes.Source;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The notes keep what {@link Source} demands of the database behind a cache. */
class NotesTest {
    @TempDir
    Path folder;

    private Interrupted database;
    private Source<Long> prices;

    @BeforeEach
    void open() {
        database = new Interrupted("jdbc:sqlite:" + folder.resolve("shop.db"));
        JdbcClient.create(database)
                .sql("CREATE TABLE " + Notes.TABLE
                        + " (name VARCHAR(200) PRIMARY KEY, amount BIGINT, token BIGINT NOT NULL)")
                .update();
        prices = new Notes(database).prices();
    }

    @Test
    void aReaderReturnsWhatALateWriterWroteBeforeTheReadersTokenWasRecorded() {
        assertThat(prices.read("tea", 5)).contains(100L);
        database.before("UPDATE " + Notes.TABLE + " SET token", () -> prices.write("tea", 200L, 6));

        assertThat(prices.read("tea", 7)).contains(200L);
        assertThatThrownBy(() -> prices.write("tea", 300L, 6)).isInstanceOf(StaleTokenException.class);
        assertThat(prices.read("tea", 5)).contains(200L);
    }

    @Test
    void theFirstReaderIsNotRefusedAndWritesOverNoWriter() {
        database.before("INSERT", () -> prices.write("tea", 200L, 9));

        assertThat(prices.read("tea", 7)).contains(200L);
        assertThat(prices.read("tea", 10)).contains(200L);
    }

    /** A database in which others act just before a statement, once. */
    private static final class Interrupted extends DelegatingDataSource {
        private final Map<String, Runnable> acts = new ConcurrentHashMap<>();

        Interrupted(String url) {
            super(new DriverManagerDataSource(url));
        }

        void before(String statement, Runnable act) {
            acts.put(statement, act);
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection real = super.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    NotesTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("prepareStatement")) {
                            act((String) arguments[0]);
                        }
                        try {
                            return method.invoke(real, arguments);
                        } catch (InvocationTargetException failed) {
                            throw failed.getCause();
                        }
                    });
        }

        private void act(String statement) {
            acts.keySet().stream()
                    .filter(statement::startsWith)
                    .findFirst()
                    .map(acts::remove)
                    .ifPresent(Runnable::run);
        }
    }
}
