package dev.holdfast.sim;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import java.util.function.Consumer;

/** One client's connection, as the server has it: what it pushes there, and its session. */
final class Connection {
    final String client;
    final Consumer<ClaimId> offer;
    final Consumer<ClaimId> gone;
    private final Consumer<ClaimId> wanted;
    Store store;

    Connection(String client, Consumer<ClaimId> offer, Consumer<ClaimId> gone, Consumer<ClaimId> wanted, Store store) {
        this.client = client;
        this.offer = offer;
        this.gone = gone;
        this.wanted = wanted;
        use(store);
    }

    /** From now on the server serves this client by another store: it watches nothing of before. */
    void use(Store fresh) {
        store = fresh;
        fresh.listen(new StoreListener() {
            @Override
            public void lost(Grant grant) {}

            @Override
            public void suspect(Grant grant) {}

            @Override
            public void wanted(Grant grant) {
                wanted.accept(grant.id());
            }
        });
    }
}
