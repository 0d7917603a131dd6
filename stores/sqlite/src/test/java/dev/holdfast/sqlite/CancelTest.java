package dev.holdfast.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.support.Asked;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A claim that is called off while the database carries it out. Who called it off may have let the next one in already:
 * a grant that comes after that would block it for a lease.
 */
class CancelTest {
    private static final String NAME = "order:42";
    private final CompletableFuture<Asked> called = new CompletableFuture<>();

    @Test
    void isAnsweredWithNothingAndLeavesNothingInAFile(@TempDir Path folder) {
        Rig rig = new Rig(folder);
        SqliteDatabase calling = new SqliteDatabase(rig.file, rig.machine(), rig.time) {
            @Override
            SqliteLocks open(BusyTimeout busyTimeout) {
                return calledOffOnceGranted(super.open(busyTimeout));
            }
        };
        try (SqliteStore store = SqliteStore.open(calling, rig.time);
                SqliteStore next = rig.open()) {
            called.complete(Asked.of(store, Rig.waiting(NAME)));

            assertThat(Rig.get(called.join().answer())).isEmpty();
            assertThat(Rig.attempt(next, NAME)).isPresent();
        }
    }

    /** The real thing, but the caller calls a claim off before it hears of its grant. */
    private SqliteLocks calledOffOnceGranted(SqliteLocks real) {
        return (SqliteLocks) Proxy.newProxyInstance(
                SqliteLocks.class.getClassLoader(), new Class<?>[] {SqliteLocks.class}, (self, method, arguments) -> {
                    try {
                        Object result = method.invoke(real, arguments);
                        if (method.getName().equals("claim")) {
                            called.join().cancel();
                        }
                        return result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
