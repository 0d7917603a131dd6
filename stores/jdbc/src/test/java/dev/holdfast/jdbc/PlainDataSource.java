package dev.holdfast.jdbc;

import java.lang.reflect.Proxy;
import java.sql.DriverManager;
import javax.sql.DataSource;

/** A data source that opens a connection each time it is asked for one. */
final class PlainDataSource {
    private PlainDataSource() {}

    static DataSource of(String url) {
        return (DataSource) Proxy.newProxyInstance(
                PlainDataSource.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("getConnection")) {
                        return DriverManager.getConnection(url);
                    }
                    throw new UnsupportedOperationException(method.getName());
                });
    }
}
