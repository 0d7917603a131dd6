package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.Residue;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** What locks cost when nobody uses them: nothing in the client, and in the store no more than is documented. */
abstract class FootprintCases extends Cases {
    private static final int NAMES = 10_000;
    private static final int LISTED = 1_000;
    private static final int USERS = 4;
    private static final int HOLDS = 500;
    private static final String THREADS = "holdfast-";

    FootprintCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void manyNamesUsedOnceLeaveNothingThatIsListed() {
        String prefix = rig.name();
        useOnce(prefix, LISTED);
        RawClient raw = rig.raw();
        rig.patience.until("nothing to be listed", () -> raw.list(prefix).isEmpty());
    }

    @Test
    void manyNamesUsedOnceLeaveNoMoreRecordsThanIsDocumented() throws Exception {
        rig.store(); // makes what the store makes once
        OptionalLong before = rig.contract.records();
        assumeTrue(before.isPresent(), "the records of this store cannot be counted");
        useOnce(rig.name(), NAMES);
        long most = before.getAsLong() + rig.contract.recordsKept(NAMES);
        rig.patience.until(
                "no more than " + most + " records to be left",
                () -> rig.contract.records().getAsLong() <= most);
    }

    @Test
    void manyHoldsNeedNoThreadsOfTheirOwn() throws Exception {
        LockClient client = rig.client();
        client.lock(rig.name()).acquire().close();
        Residue residue = Residue.watch().threads(THREADS).begin();
        List<Hold> holds = new ArrayList<>();
        HoldOptions options =
                HoldOptions.defaults().lease(Claims.LONG); // a stall of the machine is not what counts here
        for (int i = 0; i < HOLDS; i++) {
            holds.add(client.lock(rig.name(), options).acquire());
        }
        // The store may have several connections; what counts is that threads do not grow with the holds.
        assertThat(residue.left()).hasSizeLessThan(HOLDS / 10);
        holds.forEach(Hold::close);
    }

    @Test
    void aClosedClientLeavesNoThreadAndNoOpenFile() throws Exception {
        useAndClose(); // what is made once in a process, drivers and pools, is not the client's
        Residue.Watch watch = Residue.watch().threads(THREADS);
        if (Residue.canWatchOpenFiles()) {
            watch.openFiles();
        }
        Residue residue = watch.begin();

        useAndClose();

        residue.assertNothingLeft(rig.contract.patience());
    }

    private void useAndClose() throws Exception {
        String name = rig.name();
        try (LockClient one = rig.client();
                LockClient two = rig.client()) {
            Hold hold = one.lock(name).acquire();
            var waiting = two.lock(name).acquireAsync();
            hold.close();
            rig.patience.result(waiting, "hand-over").close();
        }
    }

    /** By some threads, as each name waits for the answers of the store. */
    private void useOnce(String prefix, int names) {
        LockClient client = rig.client();
        List<Future<Boolean>> users = new ArrayList<>();
        for (int first = 0; first < USERS; first++) {
            int user = first;
            users.add(rig.fork(() -> {
                for (int i = user; i < names; i += USERS) {
                    client.lock(prefix + "-" + i).acquire().close();
                }
                return true;
            }));
        }
        users.forEach(each -> rig.patience.times(4).result(each, "names used once"));
    }
}
