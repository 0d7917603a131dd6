package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.tck.KitTime;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A connection of an older pool, which was made before the last methods of its interface. */
class LentConnectionTest {
    @Test
    void isSetBackAsFarAsItCanBeAndReturned() throws Exception {
        AtomicInteger returned = new AtomicInteger();
        try (Connection real = DriverManager.getConnection("jdbc:h2:mem:older")) {
            real.setAutoCommit(false);
            TableOpener tables = tables(() -> older(real, returned));

            assertThatThrownBy(tables::open).isInstanceOf(AbstractMethodError.class);

            assertThat(returned).hasValue(1);
            assertThat(real.getAutoCommit()).isFalse();
        }
    }

    @Test
    void isReturnedThoughItCannotBeCut() throws Exception {
        AtomicInteger returned = new AtomicInteger();
        try (Connection real = DriverManager.getConnection("jdbc:h2:mem:older")) {
            TableOpener tables = tables(() -> older(real, returned));

            tables.returnSession(new SqlSession(older(real, returned)), true);

            assertThat(returned).hasValue(1);
        }
    }

    private static TableOpener tables(Connections connections) {
        return new TableOpener(new H2Dialect(), JdbcOptions.defaults(), connections, "a store", new KitTime());
    }

    private static Connection older(Connection real, AtomicInteger returned) {
        return (Connection) Proxy.newProxyInstance(
                LentConnectionTest.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "setNetworkTimeout", "abort" -> throw new AbstractMethodError(method.getName());
                    case "close" -> {
                        returned.incrementAndGet();
                        yield null;
                    }
                    default -> call(real, method, arguments);
                });
    }

    private static Object call(Connection real, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(real, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
