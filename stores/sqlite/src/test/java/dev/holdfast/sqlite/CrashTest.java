package dev.holdfast.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes that are killed while they write as fast as they can. */
@Tag("thorough") // nine processes, two of which write at full speed for a quarter of a minute
class CrashTest {
    private static final HoldOptions BRIEF = HoldOptions.defaults().lease(Duration.ofMillis(300));
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int KILLS = 8;

    @TempDir
    Path folder;

    /** A process that locks and unlocks for ever. */
    static final class Hammer {
        private Hammer() {}

        public static void main(String[] arguments) throws InterruptedException {
            try (LockClient client = LockClient.connect(arguments[0])) {
                System.out.println("ready");
                for (int i = 0; ; i++) {
                    use(client, "shared");
                    use(client, "own-" + ProcessHandle.current().pid() + "-" + i % 100);
                }
            }
        }

        private static void use(LockClient client, String name) throws InterruptedException {
            try {
                client.lock(name, BRIEF).acquire().close();
            } catch (HoldLostException | StoreUnavailableException e) {
                System.out.println("slow"); // the machine is: the lease ran out, perhaps before its grant was heard of
            }
        }
    }

    @Test
    void whoeverIsKilledWhereverLeavesASoundFileAndALockThatPassesOn() throws Exception {
        Path file = folder.resolve("locks.db");
        String url = "sqlite:" + file;
        try (LockClient client = LockClient.connect(url);
                ChildProcess survivor = hammer(url)) {
            long token = 0;
            for (int kill = 0; kill < KILLS; kill++) {
                try (ChildProcess victim = hammer(url)) {
                    TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextLong(100_000));
                    victim.kill();
                }
                Hold hold = client.lock("shared").tryAcquire(TIMEOUT).orElseThrow();
                assertThat(hold.token()).isGreaterThan(token);
                token = hold.token();
                hold.close();
            }
            assertThat(survivor.isAlive()).as(survivor::story).isTrue();
        }
        try (Rig rig = new Rig(folder)) {
            assertThat(rig.sql("PRAGMA integrity_check")).containsExactly("ok");
        }
    }

    private static ChildProcess hammer(String url) {
        ChildProcess child =
                ChildJvm.main(Hammer.class).flags("-Xmx64m").args(url).start();
        child.expect("ready", TIMEOUT);
        return child;
    }
}
