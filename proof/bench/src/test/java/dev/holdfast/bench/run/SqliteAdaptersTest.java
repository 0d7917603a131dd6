package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;
import org.junit.jupiter.api.Tag;

@Tag("thorough")
class SqliteAdaptersTest extends AdaptersContract {
    SqliteAdaptersTest() {
        super(StoreKind.SQLITE);
    }
}
