package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;

class SqliteAdaptersTest extends AdaptersContract {
    SqliteAdaptersTest() {
        super(StoreKind.SQLITE);
    }
}
