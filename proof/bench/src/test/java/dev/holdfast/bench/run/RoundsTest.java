package dev.holdfast.bench.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Load.Locks;
import dev.holdfast.bench.server.Server;
import dev.holdfast.bench.server.Servers;
import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That a round tells the truth: of locks that do not exclude, of workers that die. */
class RoundsTest {
    private static final Duration SHORT = Duration.ofMillis(200);
    /** A hold that is long enough to be met. */
    private static final Duration A_MILLI = Duration.ofMillis(1);

    private static final int ENOUGH = 40;
    private static final Predicate<Sample> TURNS = sample -> sample.perSecond() > 0;
    private static final Predicate<Sample> LOSES = sample -> sample.lost() > 0;
    private static final Predicate<Sample> OVERLAPS = sample -> sample.overlaps() > 0;
    private static final Predicate<Sample> WAITS =
            sample -> TURNS.test(sample) && sample.waits().getMaxValue() > A_MILLI.toNanos();

    private static final PeerKind NO_LOCK = Peers.of("none", StoreKind.MEMORY);

    @TempDir
    private Path folder;

    @AutoClose
    private Server server;

    @BeforeEach
    void start() {
        server = Servers.start(StoreKind.MEMORY);
    }

    @Test
    void theLostUpdatesOfALockThatDoesNotExcludeAreFound() {
        try (Fleet fleet = fleet(NO_LOCK)) {
            assertThat(until(LOSES, fleet, Load.one(2, 4).holding(A_MILLI)).lost())
                    .isPositive();
            assertThat(until(LOSES, fleet, Load.one(1, 8).holding(A_MILLI)).lost())
                    .isPositive();
        }
    }

    @Test
    @Tag("thorough")
    void soAreReadersBesideAWriterAndTooManyHoldersOfPermits() {
        try (Fleet fleet = fleet(NO_LOCK)) {
            Load reads = Load.one(2, 8).on(Locks.ONE_MOSTLY_READ).holding(A_MILLI);
            assertThat(until(OVERLAPS, fleet, reads).overlaps()).isPositive();
            Load permits = Load.one(2, 8).on(Locks.ONE_SEMAPHORE).holding(A_MILLI);
            assertThat(until(OVERLAPS, fleet, permits).overlaps()).isPositive();
        }
    }

    @Test
    void aLockThatExcludesLosesNothingAndItsTurnsAreCountedForEachThread() {
        try (Fleet fleet = fleet(Peers.of(Peers.CEILING, StoreKind.MEMORY))) {
            Sample sample = until(WAITS, fleet, Load.one(1, 4).holding(A_MILLI));
            assertThat(sample.lost()).isZero();
            assertThat(sample.overlaps()).isZero();
            // a hold of 1 ms allows 1,000 turns a second and no more
            assertThat(sample.perSecond()).isBetween(1.0, 1_000.0);
            assertThat(sample.jain()).isBetween(0.25, 1.0);
            assertThat(sample.waits().getMaxValue()).isGreaterThan(A_MILLI.toNanos());
        }
    }

    @Test
    @Tag("thorough")
    void aWorkerThatDiesFailsItsRoundLoudlyAndTheNextRoundHasNewWorkers() throws Exception {
        try (Fleet fleet = fleet(Peers.of(Peers.CEILING, StoreKind.MEMORY))) {
            double unused = fleet.run(Load.own(1), SHORT).perSecond();
            ChildProcess worker = fleet.workers().get(0);
            CompletableFuture<Void> killed = CompletableFuture.runAsync(
                    worker::kill, CompletableFuture.delayedExecutor(300, TimeUnit.MILLISECONDS));
            assertThatThrownBy(() -> fleet.run(Load.own(1), Duration.ofSeconds(20)))
                    .isInstanceOf(RoundFailed.class)
                    .hasMessageContaining("local-fair: worker process " + worker.pid() + " ended with 137");
            killed.get();
            assertThat(until(TURNS, fleet, Load.own(1)).perSecond()).isPositive();
        }
    }

    @Test
    @Tag("thorough")
    void aWorkerThatJoinsLaterIsToBeWarmedUpAsTheFirstWas() {
        try (Fleet fleet = fleet(NO_LOCK)) {
            assertThat(fleet.isWarmFor(Load.own(1))).isFalse();
            assertThat(until(TURNS, fleet, Load.own(1)).perSecond()).isPositive();
            assertThat(fleet.isWarmFor(Load.own(16))).isTrue();
            assertThat(fleet.isWarmFor(Load.one(2, 1))).isFalse();
            assertThat(until(TURNS, fleet, Load.one(2, 1)).perSecond()).isPositive();
            assertThat(fleet.isWarmFor(Load.one(2, 16))).isTrue();
        }
    }

    @Test
    @Tag("thorough")
    void aWorkerThatCannotGoOnSaysWhy() {
        PeerKind lost = new PeerKind(
                "nowhere", "nowhere", PeerKind.Role.FAKE, NO_LOCK.stores(), NO_LOCK.modes(), NO_LOCK.opening());
        try (Fleet fleet = fleet(lost)) {
            assertThatThrownBy(() -> fleet.run(Load.own(1), SHORT))
                    .isInstanceOf(RoundFailed.class)
                    .hasMessageContaining("there is no nowhere");
        }
    }

    @Test
    @Tag("thorough")
    void aSlowNetworkIsSlow() {
        try (Server redis = Servers.start(StoreKind.REDIS);
                Fleet fleet = new Fleet(Peers.of(Peers.FLOOR, StoreKind.REDIS), redis, folder.resolve("page"))) {
            Sample sample = until(TURNS, fleet, Load.own(1).through(Duration.ofMillis(20)), Duration.ofMillis(500));
            // a turn is two round trips
            assertThat(sample.perSecond()).isBetween(1.0, 25.0);
        }
    }

    private static Sample until(Predicate<Sample> shown, Fleet fleet, Load load) {
        return until(shown, fleet, load, SHORT);
    }

    /** The workers may get no turn in a short round on a busy machine, or none that meets another: then once more. */
    private static Sample until(Predicate<Sample> shown, Fleet fleet, Load load, Duration length) {
        Sample sample = fleet.run(load, length);
        for (int rounds = 1; rounds < ENOUGH && !shown.test(sample); rounds++) {
            sample = fleet.run(load, length);
        }
        return sample;
    }

    private Fleet fleet(PeerKind peer) {
        return new Fleet(peer, server, folder.resolve("page"));
    }
}
