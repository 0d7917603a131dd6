package dev.holdfast.bench.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.server.Server;
import dev.holdfast.bench.server.Servers;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("thorough") // a minute of workers that are killed
class OutagesTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    @Test
    void theLongestTimeWithoutATurnCountsFromTheLastTurnBeforeTheOutage() {
        assertThat(Outages.longestGap(LongStream.of(10, 20, 90, 95), 25, 100)).isEqualTo(70);
        assertThat(Outages.longestGap(LongStream.of(5, 80, 10), 20, 100))
                .as("turns of two processes, in no order")
                .isEqualTo(70);
    }

    @Test
    void aTurnThatTookLongBeforeTheOutageIsNotItsFault() {
        assertThat(Outages.longestGap(LongStream.of(10, 900, 950, 960), 920, 1_000))
                .isEqualTo(50);
    }

    @Test
    void aServiceThatDoesNotComeBackIsAwayUntilTheEnd() {
        assertThat(Outages.longestGap(LongStream.of(10, 20), 25, 500)).isEqualTo(480);
    }

    @Test
    void noPeerWaitsForTheLockOfAnother() {
        List<PeerKind> peers = Peers.on(StoreKind.REDIS);
        assertThat(peers)
                .extracting(peer -> Outages.lockOf(Outage.HOLDER_KILLED, peer))
                .hasSizeGreaterThan(2)
                .doesNotHaveDuplicates();
    }

    @Test
    void twoProcessesTakeTurnsAndTheOneThatIsLeftGoesOn() {
        try (Server server = Servers.start(StoreKind.SQLITE);
                ChildProcess one = turns(server, Duration.ofMillis(10));
                ChildProcess other = turns(server, Duration.ofMillis(10))) {
            one.expect(TurnTaker.HOLDS, PATIENCE);
            other.expect(TurnTaker.HOLDS, PATIENCE);
            one.terminate();
            int code = one.waitFor(PATIENCE);
            assertThat(code).isEqualTo(143);
            int before = other.lines().size();
            other.expect(TurnTaker.HOLDS, PATIENCE);
            while (other.lines().size() <= before) {
                other.expect(TurnTaker.HOLDS, PATIENCE);
            }
        }
    }

    @Test
    void aSoakShowsWhatTheStoreAndTheProcessesKeepMomentByMoment() {
        Results results = new Results();
        Progress progress = new Progress(System.err, Plan.QUICK, Duration.ZERO);
        try (Server server = Servers.start(StoreKind.SQLITE)) {
            new Soak(server, folder.resolve("page"), results, progress, Duration.ofSeconds(2)).run();
        }
        assertThat(results.failed()).isEmpty();
        assertThat(results.growth()).hasSize(10).allSatisfy(moment -> {
            assertThat(moment.heap()).isPositive();
            assertThat(moment.kept().get("bytes")).isPositive();
        });
    }

    private static ChildProcess turns(Server server, Duration hold) {
        ChildProcess worker = ChildJvm.main(Worker.class)
                .flags(Fleet.FLAGS.toArray(String[]::new))
                .start();
        worker.send(new TurnTaker(Peers.HOLDFAST, StoreKind.SQLITE, server.url(), "outage", hold).toLine());
        return worker;
    }
}
