package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;
import org.junit.jupiter.api.Tag;

@Tag("thorough") // SQLite shows the adapters every day
class PostgresAdaptersTest extends AdaptersContract {
    PostgresAdaptersTest() {
        super(StoreKind.POSTGRESQL);
    }
}
