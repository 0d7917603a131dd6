package dev.holdfast.jdbc;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;

/** Cases that stop, kill or delay an H2 server: each has one of its own. */
abstract class OnH2Server {
    @AutoClose
    H2Server server;

    @BeforeEach
    void startServer() {
        server = H2Server.start(Map.of());
    }

    static Store open(String url) {
        return new JdbcStoreProvider().open(url, new StoreContext(new ServerCases.NoWallClock()));
    }
}
