package dev.holdfast.sim;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Store;
import java.util.function.Consumer;

/** One client's connection, as the server has it: what it pushes there, and its session. */
final class Connection {
    final String client;
    final Consumer<ClaimId> offer;
    final Consumer<ClaimId> gone;
    Store store;

    Connection(String client, Consumer<ClaimId> offer, Consumer<ClaimId> gone, Store store) {
        this.client = client;
        this.offer = offer;
        this.gone = gone;
        this.store = store;
    }
}
