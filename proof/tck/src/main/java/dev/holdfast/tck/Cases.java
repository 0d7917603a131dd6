package dev.holdfast.tck;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.ExtendWith;

/** Some of the cases of the contract; {@link StoreContract} puts them together. */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
@TestInstance(Lifecycle.PER_METHOD)
@ExtendWith(ExpectedSkips.class)
abstract class Cases {
    final Rig rig;

    Cases(StoreContract contract) {
        this.rig = new Rig(contract);
    }

    @AfterEach
    void closeEverything() throws Exception {
        rig.end();
    }
}
