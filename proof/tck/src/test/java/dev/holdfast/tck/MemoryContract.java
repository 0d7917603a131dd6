package dev.holdfast.tck;

import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import java.util.Set;

abstract class MemoryContract extends StoreContract {
    private final MemoryStore memory = new MemoryStore();

    @Override
    protected Store open(StoreContext context) {
        return memory.open(context.time());
    }

    @Override
    protected Set<String> expectedSkips() {
        return Set.of(
                "Leases.aGrantOfASessionStandsWhileTheSessionLivesAndEndsWithIt",
                "Outages",
                "ClientOutages",
                "Processes",
                "OnceProcesses",
                "SharedProcesses",
                "Footprint.manyNamesUsedOnceLeaveNoMoreRecordsThanIsDocumented");
    }
}
