package dev.holdfast.bench.run;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.Peer.PeerLock;
import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Load.Locks;
import dev.holdfast.bench.server.Server;
import dev.holdfast.bench.server.Servers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Two real worker processes over each adapter of one store, on a server that starts quickly. */
abstract class AdaptersContract {
    private static final Duration SHORT = Duration.ofMillis(150);
    private static final int ENOUGH = 40;

    private final StoreKind store;

    @TempDir
    private Path folder;

    AdaptersContract(StoreKind store) {
        this.store = store;
    }

    @TestFactory
    Stream<DynamicTest> everyAdapterExcludes() {
        Server server = orSkip(() -> Servers.start(store));
        List<PeerKind> peers = Peers.on(store).stream()
                .filter(Plan.QUICK::has)
                .filter(peer -> peer.role() != PeerKind.Role.CEILING)
                .filter(peer -> Holdfasts.hasStoreFor(peer, server))
                .filter(this::isItsOwn)
                .toList();
        return peers.stream()
                .map(peer -> DynamicTest.dynamicTest(peer.id(), () -> excludes(peer, server)))
                .onClose(server::close);
    }

    /** Whether an adapter is tried on this store; not where it is the same as on another. */
    boolean isItsOwn(PeerKind peer) {
        return true;
    }

    private void excludes(PeerKind peer, Server server) throws Exception {
        try (Fleet fleet = new Fleet(peer, server, folder.resolve("page"))) {
            List<Sample> rounds = roundsUntilThereAreTurns(fleet);
            assertThat(rounds).extracting(Sample::lost).as("lost updates").containsOnly(0L);
            Sample sample = rounds.get(rounds.size() - 1);
            assertThat(sample.perSecond()).isPositive();
            assertThat(sample.clientMicros()).isPositive();
            if (peer.hasTry()) {
                triesAreAnsweredAtOnce(peer, server);
            }
            if (peer.modes().contains(Peer.Mode.READ)) {
                Sample mostlyReads = fleet.run(Load.one(2, 3).on(Locks.ONE_MOSTLY_READ), SHORT);
                assertThat(mostlyReads.overlaps() + mostlyReads.lost()).isZero();
            }
            if (peer.modes().contains(Peer.Mode.PERMIT)) {
                Sample permits = fleet.run(Load.one(2, 3).on(Locks.ONE_SEMAPHORE), SHORT);
                assertThat(permits.overlaps()).isZero();
            }
            if (peer.modes().contains(Peer.Mode.SEVERAL)) {
                Sample several = fleet.run(Load.one(2, 3).on(Locks.ONE_SEVERAL), SHORT);
                assertThat(several.lost()).isZero();
            }
        }
    }

    private static void triesAreAnsweredAtOnce(PeerKind kind, Server server) throws Exception {
        try (Peer holder = kind.connect(server.url(), 1);
                Peer other = kind.connect(server.url(), 1)) {
            PeerLock held = holder.open("tried", Peer.Mode.EXCLUSIVE);
            PeerLock wanted = other.open("tried", Peer.Mode.EXCLUSIVE);
            assertThat(held.tryAcquire(Duration.ZERO)).isTrue();
            assertThat(wanted.tryAcquire(Duration.ZERO))
                    .as("a try beside a holder")
                    .isFalse();
            assertThat(wanted.tryAcquire(SHORT))
                    .as("a timed try beside a holder")
                    .isFalse();
            held.release();
            assertThat(wanted.tryAcquire(Duration.ofSeconds(30))).isTrue();
            wanted.release();
            held.close();
            wanted.close();
        }
    }

    /** The first rounds of a new JVM, or on a busy machine, may be over before their first turn. */
    private static List<Sample> roundsUntilThereAreTurns(Fleet fleet) {
        List<Sample> rounds = new ArrayList<>();
        do {
            rounds.add(fleet.run(Load.one(2, 3), SHORT));
        } while (rounds.size() < ENOUGH
                && (rounds.size() < 2 || rounds.get(rounds.size() - 1).perSecond() == 0));
        return rounds;
    }
}
