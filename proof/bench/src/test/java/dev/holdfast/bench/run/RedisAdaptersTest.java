package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;
import org.junit.jupiter.api.Tag;

@Tag("thorough") // SQLite shows the adapters every day
class RedisAdaptersTest extends AdaptersContract {
    RedisAdaptersTest() {
        super(StoreKind.REDIS);
    }
}
