package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;

class MariaDbAdaptersTest extends AdaptersContract {
    MariaDbAdaptersTest() {
        super(StoreKind.MARIADB);
    }
}
