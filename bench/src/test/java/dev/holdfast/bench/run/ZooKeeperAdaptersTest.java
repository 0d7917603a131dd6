package dev.holdfast.bench.run;

import org.junit.jupiter.api.Tag;
import dev.holdfast.bench.peer.StoreKind;

@Tag("thorough") // Redis and SQLite show the adapters every day
class ZooKeeperAdaptersTest extends AdaptersContract {
    ZooKeeperAdaptersTest() {
        super(StoreKind.ZOOKEEPER);
    }
}
