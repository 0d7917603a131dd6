package dev.holdfast.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the page does to locks. */
class LockWatchTest {
    @Test
    void theLockOfAnApplicationWithTheSameNameIsNotTaken(@TempDir Path folder) throws Exception {
        String store = "sqlite:" + folder.resolve("locks.db");
        try (LockClient application = LockClient.builder(store).build();
                Hold hold = application.lock("sale:1").acquire();
                LockWatch watch = new LockWatch(store, null, "sale:1")) {
            assertThat(watch.expire()).isFalse();
            assertThat(application.lock("sale:1").status().grant())
                    .hasValueSatisfying(held -> assertThat(held.token()).isEqualTo(hold.token()));
        }
    }
}
