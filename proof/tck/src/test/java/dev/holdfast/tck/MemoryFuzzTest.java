package dev.holdfast.tck;

import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.fuzz.StoreFuzz;
import java.util.Set;

/** Random histories on the store in memory, which is the plainest. */
class MemoryFuzzTest extends StoreFuzz {
    private final MemoryStore memory = new MemoryStore();

    @Override
    protected Store open(StoreContext context, int port, int client) {
        return memory.open(context.time());
    }

    @Override
    protected boolean isExtendable() {
        return true;
    }

    /** It answers at once. */
    @Override
    protected Set<String> racesOutOfReach() {
        return Set.of("a renewal crosses a release");
    }
}
