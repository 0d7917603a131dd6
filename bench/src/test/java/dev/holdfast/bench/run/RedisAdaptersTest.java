package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;

class RedisAdaptersTest extends AdaptersContract {
    RedisAdaptersTest() {
        super(StoreKind.REDIS);
    }
}
