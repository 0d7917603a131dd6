package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;
import org.junit.jupiter.api.Tag;

/** The adapters of PostgreSQL on another server, and GET_LOCK. */
@Tag("thorough")
class MariaDbAdaptersTest extends AdaptersContract {
    MariaDbAdaptersTest() {
        super(StoreKind.MARIADB);
    }
}
