package dev.holdfast.tck;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import java.util.Set;
import org.junit.jupiter.api.Tag;

/**
 * The other branch of each capability. The everyday tier of {@code ./verify} leaves the cases that run through the engine to
 * the stores that are used; those whose grants end with a session, to ZooKeeper.
 */
@Tag("engine-proved-elsewhere")
@Tag("values-proved-elsewhere")
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

    @Override
    protected Set<String> expectedSkips() {
        return with(
                SKIPS_WITHOUT_LEASES,
                "Outages",
                "ClientOutages",
                "Processes",
                "OnceProcesses",
                "SharedProcesses",
                "Footprint.manyNamesUsedOnceLeaveNoMoreRecordsThanIsDocumented",
                "Downgrades",
                "Grants.aClaimOfAnotherThreadDoesNotOvertakeAReleaseThatIsAboutToBeSent",
                "Onces",
                "ReadWriteLocks",
                "Semaphores",
                "Wanted");
    }
}
