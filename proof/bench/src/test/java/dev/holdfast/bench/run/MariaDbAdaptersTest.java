package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import org.junit.jupiter.api.Tag;

/** What MariaDB has and PostgreSQL has not, such as {@code GET_LOCK}: {@link PostgresAdaptersTest} has the others. */
@Tag("thorough")
class MariaDbAdaptersTest extends AdaptersContract {
    MariaDbAdaptersTest() {
        super(StoreKind.MARIADB);
    }

    @Override
    boolean isItsOwn(PeerKind peer) {
        return !Peers.on(StoreKind.POSTGRESQL).contains(peer);
    }
}
