package dev.holdfast.sqlite;

import static dev.holdfast.sqlite.Rig.attempt;
import static dev.holdfast.sqlite.Rig.claim;
import static dev.holdfast.sqlite.Rig.get;
import static dev.holdfast.sqlite.Rig.hold;
import static dev.holdfast.sqlite.Rig.mode;
import static dev.holdfast.sqlite.Rig.release;
import static dev.holdfast.sqlite.Rig.waiters;
import static dev.holdfast.sqlite.Rig.waiting;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockMode;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers and permits in a file: who fits beside whom, whose turn it is, whose number is the higher. */
class SharedTest extends OnOneFile {
    private static final Duration TURN = Duration.ofNanos(SqliteSql.TURN_MICROS * 1000);

    private SqliteStore one;
    private SqliteStore two;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @BeforeEach
    void openTheStores() {
        one = rig.open();
        two = rig.open();
    }

    @AfterEach
    void endTheThreads() {
        threads.shutdownNow();
    }

    @Test
    void theFirstReadersOfANewNameComeInTogether() {
        List<SqliteStore> stores = List.of(one, two, rig.open(), rig.open());
        for (int i = 0; i < 300; i++) {
            String name = "new:" + i;
            CyclicBarrier start = new CyclicBarrier(stores.size());
            List<CompletableFuture<Optional<Grant>>> claims = stores.stream()
                    .map(store -> CompletableFuture.supplyAsync(
                            () -> {
                                Claim reading = mode(claim(name), Mode.SHARED);
                                meet(start);
                                return get(Asked.of(store, reading).answer());
                            },
                            threads))
                    .toList();

            assertThat(claims)
                    .as("readers of a name that had no row")
                    .allSatisfy(claim -> assertThat(get(claim)).isPresent());
        }
    }

    private static void meet(CyclicBarrier start) {
        try {
            start.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aReaderBehindAWaitingWriterWaitsAndComesAfterIt() {
        Grant reader = share(one);
        Asked writer = Asked.of(two, waiting(NAME));
        awaitWaiters(1);
        Asked later = Asked.of(one, waiting(reading()));
        awaitWaiters(2);
        assertThat(get(Asked.of(two, reading()).answer())).isEmpty();

        rig.freeze();
        release(one, reader);
        Grant writing = get(writer.answer()).orElseThrow();
        assertThat(later.answer()).isNotDone();
        release(two, writing);

        assertThat(get(later.answer())).isPresent();
    }

    @Test
    void readersThatWaitEnterTogether() {
        Grant writer = hold(one, NAME);
        Asked first = Asked.of(one, waiting(reading()));
        Asked second = Asked.of(two, waiting(reading()));
        awaitWaiters(2);

        release(one, writer);

        assertThat(get(first.answer())).isPresent();
        assertThat(get(second.answer())).isPresent();
        awaitWaiters(0);
    }

    @Test
    @Tag("thorough")
    void aReaderThatWaitedDoesNotCountAsWaitingOnceItIsGranted() {
        SqliteStore three = rig.open();
        for (int i = 0; i < 100; i++) {
            Grant writer = hold(one, NAME);
            Asked reader = Asked.of(two, waiting(reading()));
            awaitWaiters(1);
            int[] waiters = {-1};
            CompletionStage<Void> seen = reader.answer().thenAccept(granted -> waiters[0] = waiters(three, NAME));

            release(one, writer);

            get(seen);
            assertThat(waiters[0])
                    .as("waiters at the moment of the grant, round %d", i)
                    .isZero();
            release(two, get(reader.answer()).orElseThrow());
        }
    }

    @Test
    void whoWantsMorePermitsThanAreFreeIsNotOvertakenByWhoWantsFewer() {
        Grant some = permits(one, 2, 3).orElseThrow();
        Asked many = Asked.of(two, waiting(mode(claim(NAME), new Permits(3, 3))));
        awaitWaiters(1);

        assertThat(permits(one, 1, 3)).as("behind the one who wants all").isEmpty();

        release(one, some);
        assertThat(get(many.answer())).isPresent();
    }

    @Test
    void eachClaimCountsThePermitsByItsOwnTotal() {
        permits(one, 2, 3).orElseThrow();

        assertThat(permits(two, 1, 2)).as("2 of 2 are out").isEmpty();
        assertThat(permits(two, 3, 5)).as("2 of 5 are out").isPresent();
        assertThat(permits(two, 1, 3)).as("5 of 3 are out").isEmpty();
    }

    @Test
    void permitsExcludeReadersAndWriters() {
        permits(one, 1, 3).orElseThrow();

        assertThat(get(Asked.of(two, reading()).answer())).isEmpty();
        assertThat(attempt(two, NAME)).isEmpty();
        share(two, "other");
        assertThat(get(Asked.of(one, mode(claim("other"), new Permits(1, 3))).answer()))
                .isEmpty();
    }

    @Test
    void aDeadWriterInTheQueueDelaysReadersByOneTurn() {
        rig.freeze();
        Grant writer = hold(one, NAME);
        dead(waiting(NAME));
        release(one, writer);

        assertThat(get(Asked.of(one, reading()).answer())).as("within its turn").isEmpty();
        rig.pass(TURN);
        assertThat(get(Asked.of(one, reading()).answer())).isPresent();
        assertThat(get(Asked.of(two, reading()).answer()))
                .as("the dead writer lost its place")
                .isPresent();
    }

    @Test
    void aDeadReaderInTheQueueDelaysNoOtherReader() {
        Grant writer = hold(one, NAME);
        dead(waiting(reading()));
        release(one, writer);

        assertThat(get(Asked.of(one, reading()).answer())).isPresent();
    }

    @Test
    void theTurnOfAWriterBeginsWhenTheLeaseOfADeadReaderIsOver() {
        rig.freeze();
        get(Asked.of(one, reading()).answer()).orElseThrow();
        dead(waiting(NAME));
        rig.pass(Rig.LEASE);
        dead(waiting(NAME));

        assertThat(attempt(two, NAME)).as("two turns of 200 ms").isEmpty();
        rig.pass(TURN.multipliedBy(2));
        assertThat(attempt(two, NAME)).isPresent();
    }

    @Test
    void aWriterThatRanOutDoesNotComeBackWhileAReaderHolds() {
        Claim claim = claim(NAME);
        get(Asked.of(one, claim).answer()).orElseThrow();
        rig.pass(Rig.LEASE);
        Grant reader = share(two);

        assertThat(get(Asked.of(one, claim).answer()))
                .as("the same claim again")
                .isEmpty();
        assertThat(verdict(two, reader)).isEqualTo(Verdict.HELD);
    }

    @Test
    void aReaderThatRanOutDoesNotComeBack() {
        Grant reader = share(one);
        rig.pass(Rig.LEASE);
        Grant writer = hold(two, NAME);
        assertThat(verdict(one, reader)).isEqualTo(Verdict.LOST);
        assertThat(release(one, reader)).isFalse();
        assertThat(verdict(two, writer)).isEqualTo(Verdict.HELD);
    }

    @Test
    void numbersRiseOverReadersThatAreGoneInWhateverWay() {
        rig.time.wallSkew.set(Duration.ofDays(-365).toMillis());
        Claim high = Rig.floor(reading(), 1L << 50);
        Grant released = get(Asked.of(one, high).answer()).orElseThrow();
        release(one, released);
        Grant afterRelease = hold(one, NAME);
        assertThat(afterRelease.number()).isGreaterThan(released.number());
        release(one, afterRelease);

        Grant runOut = share(one);
        rig.pass(Rig.LEASE);
        Grant afterRunOut = hold(two, NAME);
        assertThat(afterRunOut.number()).isGreaterThan(runOut.number());
        release(two, afterRunOut);

        Grant purged = share(one);
        rig.pass(Duration.ofHours(2));
        purge();
        assertThat(rig.sql("SELECT count(*) FROM holdfast_claim")).containsExactly("0");
        assertThat(hold(two, NAME).number()).isGreaterThan(purged.number());
    }

    @Test
    void numbersRiseOverReadersOfBeforeARestartOfTheMachine() {
        Grant before =
                get(Asked.of(one, Rig.floor(reading(), 1L << 50)).answer()).orElseThrow();

        rig.reboot();

        SqliteStore after = rig.open();
        assertThat(hold(after, NAME).number()).isGreaterThan(before.number());
    }

    @Test
    void aReaderWhoIsAnHourOldKeepsItsLock() {
        Grant reader = share(one);
        for (int i = 0; i < 200; i++) {
            rig.pass(Duration.ofSeconds(20));
            assertThat(verdict(one, reader)).isEqualTo(Verdict.HELD);
        }

        purge();

        assertThat(attempt(two, NAME)).isEmpty();
        assertThat(verdict(one, reader)).isEqualTo(Verdict.HELD);
    }

    @Test
    void readersAndWritersAreRenewedTogether() {
        Grant reader = share(one, "a");
        Grant writer = hold(one, "b");
        Grant permit =
                get(Asked.of(one, mode(claim("c"), new Permits(1, 2))).answer()).orElseThrow();
        rig.pass(Rig.LEASE.dividedBy(2));

        var renewals = get(one.renew(List.of(reader, writer, permit)));

        assertThat(renewals.values()).hasSize(3).allMatch(each -> each.verdict() == Verdict.HELD);
        rig.pass(Rig.LEASE.dividedBy(2));
        assertThat(attempt(two, "a")).isEmpty();
        assertThat(attempt(two, "b")).isEmpty();
        assertThat(attempt(two, "c")).isEmpty();
    }

    @Test
    void aReaderGetsAFreshNumberUnlessSomebodyWaits() {
        Grant reader = share(one);

        Grant fresh = get(one.extend(reader)).orElseThrow();
        assertThat(fresh.number()).isGreaterThan(reader.number());

        dead(waiting(NAME));
        assertThat(get(one.extend(fresh))).isEmpty();
    }

    @Test
    void readersThatWereBrokenAreLostAndTheNextComesWhenTheirLeasesEnd() {
        Grant first = share(one);
        Grant second = share(two);

        assertThat(get(two.breakGrant(NAME, first.number(), false))).isTrue();
        assertThat(get(two.breakGrant(NAME, second.number(), false))).isTrue();

        assertThat(verdict(one, first)).isEqualTo(Verdict.LOST);
        assertThat(attempt(two, NAME)).isEmpty();
        rig.pass(Rig.LEASE);
        assertThat(attempt(two, NAME)).isPresent();
    }

    @Test
    void readersThatAreBrokenAtOnceMakeRoomAtOnce() {
        Grant first = share(one);
        Grant second = share(two);

        assertThat(get(two.breakGrant(NAME, first.number(), true))).isTrue();
        assertThat(attempt(two, NAME)).isEmpty();
        assertThat(get(two.breakGrant(NAME, second.number(), true))).isTrue();

        assertThat(hold(two, NAME).number()).isGreaterThan(Math.max(first.number(), second.number()));
        assertThat(verdict(one, first)).isEqualTo(Verdict.LOST);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aWriterThatIsBrokenWhileItIsMadeAReaderDoesNotReadOn(boolean now) throws SQLException {
        Grant writer = hold(one, NAME);
        enterAmongReaders(writer);

        assertThat(get(two.breakGrant(NAME, writer.number(), now))).isTrue();

        assertThat(verdict(one, writer)).isEqualTo(Verdict.LOST);
        assertThat(get(one.downgrade(writer))).isFalse();
        assertThat(attempt(two, NAME).isPresent()).isEqualTo(now);
    }

    /** The first of the two statements that make a writer a reader. */
    private void enterAmongReaders(Grant writer) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + rig.file);
                PreparedStatement enter = connection.prepareStatement(SqliteSharedSql.DOWNGRADE)) {
            enter.setString(1, writer.name());
            enter.setString(2, writer.id().value());
            enter.setLong(3, 0);
            assertThat(enter.executeUpdate()).isEqualTo(1);
        }
    }

    @Test
    void theStatusIsThatOfTheReaderWhoStaysLongest() {
        share(one);
        rig.pass(Duration.ofSeconds(5));
        Grant last = share(two);

        var status = get(one.status(NAME)).grant().orElseThrow();

        assertThat(status.mode()).isEqualTo(LockMode.SHARED);
        assertThat(status.token()).isEqualTo(last.number() * 1024);
        assertThat(get(one.list("order"))).hasSize(1).allMatch(each -> each.isHeld());
    }

    @Test
    void whoMayNotHoldTogetherNeverDoesAndNobodyIsForgotten() {
        AtomicInteger inside = new AtomicInteger(); // of a hundred: who excludes all others counts for all
        AtomicInteger most = new AtomicInteger();
        List<Mode> modes = List.of(Mode.EXCLUSIVE, Mode.SHARED, new Permits(40, 100), new Permits(60, 100));
        List<CompletableFuture<Void>> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            SqliteStore store = rig.open();
            Mode mode = modes.get(i);
            int weight = List.of(100, 100, 40, 60).get(i);
            clients.add(CompletableFuture.runAsync(
                    () -> {
                        for (int round = 0; round < 50; round++) {
                            Grant grant = get(Asked.of(store, waiting(mode(claim(NAME), mode)))
                                            .answer())
                                    .orElseThrow();
                            most.accumulateAndGet(inside.addAndGet(weight), Math::max);
                            Thread.yield();
                            inside.addAndGet(-weight);
                            release(store, grant);
                        }
                    },
                    task -> new Thread(task).start()));
        }

        clients.forEach(Rig::get);

        assertThat(most).hasValueLessThanOrEqualTo(100);
        assertThat(rig.sql("SELECT count(*) FROM holdfast_claim")).containsExactly("0");
    }

    private Grant share(SqliteStore store) {
        return share(store, NAME);
    }

    private static Grant share(SqliteStore store, String name) {
        return get(Asked.of(store, mode(claim(name), Mode.SHARED)).answer()).orElseThrow();
    }

    private static Optional<Grant> permits(SqliteStore store, int some, int of) {
        return get(Asked.of(store, mode(claim(NAME), new Permits(some, of))).answer());
    }

    private static Claim reading() {
        return mode(claim(NAME), Mode.SHARED);
    }

    private static Verdict verdict(SqliteStore store, Grant grant) {
        return get(store.renew(List.of(grant))).get(grant.id()).verdict();
    }

    private void awaitWaiters(int count) {
        await().until(() -> waiters(one, NAME) == count);
    }

    /** A place in the queue of a claim whose process is gone. */
    private void dead(Claim claim) {
        try (SqliteLocks table = rig.database().open(new BusyTimeout(Duration.ofSeconds(10)))) {
            table.enqueue(claim);
        }
    }

    private void purge() {
        rig.time.scheduled.remove().run();
        await().until(() -> rig.time.scheduled.size() == 2);
    }
}
