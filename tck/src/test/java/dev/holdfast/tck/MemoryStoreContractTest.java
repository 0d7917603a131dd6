package dev.holdfast.tck;

import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;

class MemoryStoreContractTest extends StoreContract {
    private final MemoryStore memory = new MemoryStore();

    @Override
    protected Store open(StoreContext context) {
        return memory.open(context.time());
    }
}
