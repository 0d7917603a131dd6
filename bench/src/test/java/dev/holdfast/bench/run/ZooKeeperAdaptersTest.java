package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;

class ZooKeeperAdaptersTest extends AdaptersContract {
    ZooKeeperAdaptersTest() {
        super(StoreKind.ZOOKEEPER);
    }
}
