package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.DistributedLock;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import java.util.Optional;

/** Cases that break the store for a while, and prove that it was broken. */
abstract class OutageSupport extends Cases {
    OutageSupport(StoreContract contract) {
        super(contract);
    }

    final void during(Rig.Body body) throws Exception {
        Store witness = rig.store();
        Optional<AutoCloseable> outage = rig.contract.breakStore();
        assumeTrue(outage.isPresent(), "this store cannot be broken");
        var asked = Asked.of(witness, Claims.of(rig.name())).answer();
        try {
            body.run();
            assertThat(asked.isDone() && !asked.isCompletedExceptionally())
                    .as("granted while the store was broken: the outage did not bite")
                    .isFalse();
        } finally {
            outage.get().close();
        }
    }

    final boolean answers(RawClient client) {
        try {
            return client.release(client.hold(rig.name()));
        } catch (StoreUnavailableException notYet) {
            return false;
        }
    }

    /** Whether the client of a lock is connected again: each client reconnects on its own. */
    final boolean answers(DistributedLock lock) {
        try {
            return lock.status() != null;
        } catch (StoreUnavailableException notYet) {
            return false;
        }
    }
}
