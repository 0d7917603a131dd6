package dev.holdfast.tck;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;

/** The other branch of each capability. */
class ToyStoreContractTest extends StoreContract {
    private final ToyLocks locks = new ToyLocks();

    @Override
    protected Store open(StoreContext context) {
        return new ToyStore(locks, context);
    }

    @Override
    protected int rounds() {
        return 50;
    }
}
