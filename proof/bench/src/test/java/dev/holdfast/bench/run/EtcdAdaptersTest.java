package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;
import org.junit.jupiter.api.Tag;

@Tag("thorough") // SQLite shows the adapters every day
class EtcdAdaptersTest extends AdaptersContract {
    EtcdAdaptersTest() {
        super(StoreKind.ETCD);
    }
}
