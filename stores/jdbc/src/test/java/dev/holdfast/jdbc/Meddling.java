package dev.holdfast.jdbc;

import dev.holdfast.tck.KitTime;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Connections on which something happens after the server has carried out a statement and before its answer is read, or after they were closed. */
final class Meddling implements Connections {
    /** What is told of a connection that was closed. */
    static final String CLOSE = "close";

    /** What happens, on the thread of the statement. */
    interface Meddler {
        void after(String sql) throws SQLException;
    }

    private final String url;
    private volatile Meddler meddler = sql -> {};

    Meddling(String url) {
        this.url = url;
    }

    void meddle(Meddler with) {
        meddler = with;
    }

    ServerStore store() throws SQLException {
        return store(JdbcOptions.defaults());
    }

    ServerStore store(JdbcOptions options) throws SQLException {
        try (Connection connection = open()) {
            return ServerStore.open(ServerDialects.of(connection), options, this, "meddled", new KitTime(), false);
        }
    }

    @Override
    public Connection open() throws SQLException {
        Connection real = DriverManager.getConnection(url);
        return proxy(Connection.class, (method, arguments) -> {
            Object result = call(real, method, arguments);
            if (method.getName().equals(CLOSE)) {
                meddler.after(CLOSE);
            }
            return result instanceof PreparedStatement statement ? meddled(statement, (String) arguments[0]) : result;
        });
    }

    private PreparedStatement meddled(PreparedStatement real, String sql) {
        return proxy(PreparedStatement.class, (method, arguments) -> {
            Object result = call(real, method, arguments);
            if (method.getName().startsWith("execute")) {
                meddler.after(sql);
            }
            return result;
        });
    }

    private interface Call {
        Object on(Method method, Object[] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(
                Meddling.class.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> call.on(method, arguments)));
    }

    private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
