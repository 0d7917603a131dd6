package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;

class PostgresAdaptersTest extends AdaptersContract {
    PostgresAdaptersTest() {
        super(StoreKind.POSTGRESQL);
    }
}
