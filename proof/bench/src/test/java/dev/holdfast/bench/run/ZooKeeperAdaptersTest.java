package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;
import org.junit.jupiter.api.Tag;

@Tag("thorough") // SQLite shows the adapters every day
class ZooKeeperAdaptersTest extends AdaptersContract {
    ZooKeeperAdaptersTest() {
        super(StoreKind.ZOOKEEPER);
    }
}
