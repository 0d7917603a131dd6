package dev.holdfast.bench.peer;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** The pool of connections that an application would have: a connection for each of its sixteen threads. */
final class Pools {
    private static final int SIZE = 16;

    private Pools() {}

    static HikariDataSource open(String url, int clients) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(clients > 1 ? 1 : SIZE);
        return new HikariDataSource(config);
    }
}
