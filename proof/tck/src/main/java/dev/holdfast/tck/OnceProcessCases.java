package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/** Processes that run work once in each period, and are killed in the middle of it. */
abstract class OnceProcessCases extends ContenderCases {
    private static final int PROCESSES = 8;
    private static final int PERIODS = 200;
    private static final int PERIODS_OF_SESSIONS = 10;
    private static final int KILLED_ONE_IN = 20;
    private static final Duration PERIOD = Duration.ofMillis(100); // the shortest

    /** For work of 20 ms. On a busy machine it may run out: then the end is refused. All others wait for that of a killed one. */
    private static final Duration LEASE = Duration.ofSeconds(1);

    private int kills;

    OnceProcessCases(StoreContract contract) {
        super(contract);
    }

    @Test
    @Tag("thorough")
    @Timeout(value = 600, threadMode = ThreadMode.SEPARATE_THREAD)
    void eightProcessesThatAreKilledNeverRunAPeriodTwiceNorTwoAtATime() throws Exception {
        assumeTrue(rig.capabilities().records(), "this store keeps no records");
        int periods = rig.capabilities().sessionBound() ? PERIODS_OF_SESSIONS : PERIODS;
        List<ChildProcess> children = new ArrayList<>();
        for (int i = 0; i < PROCESSES; i++) {
            children.add(worker());
        }
        while (done().size() < periods || kills == 0) {
            for (int i = 0; i < PROCESSES; i++) {
                if (!children.get(i).isAlive()) {
                    kills++;
                    children.set(i, worker());
                }
            }
            rig.pass(Duration.ofMillis(20));
        }
        children.forEach(ChildProcess::closeInput);
        children.forEach(child -> child.waitFor(patient()));

        List<String> done = done();
        List<String> starts = done.stream()
                .filter(line -> !line.startsWith("refused"))
                .map(line -> line.substring(0, line.indexOf(' ')))
                .toList();
        System.out.println(PROCESSES + " processes: " + starts.size() + " periods done, " + kills + " kills, "
                + (done.size() - starts.size()) + " ends refused");
        assertThat(starts).doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(periods);
        judged();
    }

    private ChildProcess worker() {
        return rig.closing(ChildJvm.main(OnceWorker.class)
                .flags("-Xmx64m", "-XX:+UseSerialGC")
                .args(
                        url,
                        name,
                        Long.toString(PERIOD.toMillis()),
                        Long.toString(LEASE.toMillis()),
                        Integer.toString(KILLED_ONE_IN),
                        newLog().toString(),
                        doneFile().toString())
                .start());
    }

    private List<String> done() throws IOException {
        return Files.exists(doneFile()) ? Files.readAllLines(doneFile()) : List.of();
    }

    private Path doneFile() {
        return folder.resolve("done");
    }
}
