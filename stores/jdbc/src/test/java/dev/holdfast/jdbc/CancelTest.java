package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Pending;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A claim that is called off while the database carries it out. Who called it off may have let the next one in already:
 * a grant that comes after that would block it for a lease.
 */
class CancelTest {
    private static final String NAME = "order:42";
    private final CompletableFuture<Pending> called = new CompletableFuture<>();

    @Test
    void isAnsweredWithNothingAndLeavesNothingOnAServer() throws SQLException {
        Meddling connections = new Meddling("jdbc:h2:mem:cancel" + System.nanoTime() + ";DB_CLOSE_DELAY=-1");
        try (ServerStore store = connections.store()) {
            Rig.get(store.release(Rig.get(store.claim(Rig.claim(NAME)).answer()).orElseThrow()));
            connections.meddle(sql -> {
                if (sql.contains("UPDATE")) {
                    connections.meddle(any -> {});
                    called.join().cancel();
                }
            });

            called.complete(store.claim(Rig.waiting(NAME)));

            assertThat(Rig.get(called.join().answer())).isEmpty();
            assertThat(Rig.get(store.claim(Rig.claim(NAME)).answer())).isPresent();
        }
    }

    @Test
    void isAnsweredWithNothingAndLeavesNothingInAFile(@TempDir Path folder) {
        Rig rig = new Rig(folder);
        Dialect real = rig.dialect();
        Dialect calling = proxy(
                Dialect.class,
                real,
                "open",
                table -> proxy(SqliteLocks.class, table, "claim", granted -> {
                    called.join().cancel();
                    return granted;
                }));
        try (SqliteStore store = SqliteStore.open(calling, rig.time);
                SqliteStore next = rig.open()) {
            called.complete(store.claim(Rig.waiting(NAME)));

            assertThat(Rig.get(called.join().answer())).isEmpty();
            assertThat(Rig.attempt(next, NAME)).isPresent();
        }
    }

    private interface Meddler {
        Object instead(Object result);
    }

    /** The real thing, but what one method answers goes through our hands. */
    private static <T> T proxy(Class<T> type, Object real, String name, Meddler meddler) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    try {
                        Object result = method.invoke(real, arguments);
                        return method.getName().equals(name) ? meddler.instead(result) : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
