package dev.holdfast.sqlite;

import static dev.holdfast.sqlite.Rig.attempt;
import static dev.holdfast.sqlite.Rig.claim;
import static dev.holdfast.sqlite.Rig.get;
import static dev.holdfast.sqlite.Rig.hold;
import static dev.holdfast.sqlite.Rig.release;
import static dev.holdfast.sqlite.Rig.waiting;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.ClientClosedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.IgnoringListener;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A file that another process blocks: requests wait for a while, then fail; waits live on; reads are not disturbed. */
class BusyFileTest extends OnOneFile {
    private static final Duration BRIEF = Duration.ofMillis(300);

    /** Blocks the file as a process does that is stopped inside a statement. */
    private AutoCloseable block() throws SQLException {
        Connection connection = rig.connect();
        connection.createStatement().execute("BEGIN IMMEDIATE");
        return connection;
    }

    @Test
    void aRequestWaitsUntilTheFileIsFreeAndIsStampedThen() throws Exception {
        SqliteStore one = rig.open();
        hold(one, "opened");
        AutoCloseable block = block();
        CompletableFuture<Optional<Grant>> answer = Asked.of(one, claim(NAME)).answer();
        Duration blocked = Duration.ofSeconds(2);
        await().during(blocked).until(() -> !answer.isDone());
        long freed = rig.time.nanoTime();

        block.close();

        Grant grant = get(answer).orElseThrow();
        assertThat(grant.sentNanos())
                .as("when the attempt that went through began: shortly before the file was free")
                .isGreaterThan(freed - blocked.toNanos() / 2);
    }

    @Test
    void requestsFailWhenTheFileIsBlockedForTooLong() throws Exception {
        SqliteStore one = rig.open(BRIEF);
        Grant grant = hold(one, NAME);
        try (AutoCloseable block = block()) {
            assertThatThrownBy(() -> get(Asked.of(one, claim("other")).answer()))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("'other'")
                    .hasMessageContaining(rig.file.toString())
                    .hasMessageContaining("another process has blocked the file")
                    .hasMessageNotContaining("\n");
            assertThatThrownBy(() -> release(one, grant)).isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(() -> get(one.renew(List.of(grant)))).isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(() -> get(one.breakGrant(NAME, grant.number(), true)))
                    .isInstanceOf(StoreUnavailableException.class);
        }
        assertThat(release(one, grant)).isTrue();
    }

    @Test
    void aClaimThatWaitsLivesOnAndTheEngineIsToldThatTheFileIsBlocked() throws Exception {
        SqliteStore one = rig.open(BRIEF);
        List<String> reports = new CopyOnWriteArrayList<>();
        one.listen(new IgnoringListener() {
            @Override
            public void unreachable(String name, Throwable why) {
                reports.add(name + ": " + why.getMessage());
            }

            @Override
            public void reachable() {
                reports.add("reachable");
            }
        });
        hold(one, "opened");
        Asked waits;
        try (AutoCloseable block = block()) {
            waits = Asked.of(one, waiting(NAME));
            await().until(() -> !reports.isEmpty());
            assertThat(reports.get(0)).startsWith(NAME + ": ").contains(rig.file.toString());
        }
        assertThat(get(waits.answer())).isPresent();
        await().until(() -> reports.contains("reachable"));
    }

    @Test
    void requestsThatQueuedBehindABlockedOneDoNotWaitAllOver() throws Exception {
        SqliteStore one = rig.open(Duration.ofSeconds(1));
        hold(one, "opened");
        try (AutoCloseable block = block()) {
            long begun = System.nanoTime();
            List<CompletableFuture<?>> answers = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                answers.add(Asked.of(one, claim(NAME + i)).answer());
            }
            answers.forEach(
                    answer -> assertThatThrownBy(() -> get(answer)).isInstanceOf(StoreUnavailableException.class));
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(10));
        }
    }

    @Test
    void whoHoldsCanBeLookedUpWhileTheFileIsBlocked() throws Exception {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        try (AutoCloseable block = block()) {
            assertThat(get(one.status(NAME)).grant()).isPresent();
            assertThat(attempt(one, NAME)).as("a failed try only reads").isEmpty();

            SqliteStore late = rig.open();

            assertThat(get(late.list(""))).extracting(status -> status.name()).containsExactly(NAME);
        }
        assertThat(release(one, grant)).isTrue();
    }

    @Test
    void aWaitLivesThroughIt() throws Exception {
        SqliteStore one = rig.open();
        SqliteStore two = rig.open(BRIEF);
        Grant grant = hold(one, NAME);
        Asked next = Asked.of(two, waiting(NAME));
        await().until(() -> Rig.waiters(one, NAME) == 1);
        try (AutoCloseable block = block()) {
            rig.pass(SqliteLocks.PLACE_LIFE); // its place cannot be kept either
            await().during(BRIEF.multipliedBy(3)).until(() -> !next.answer().isDone());
        }
        release(one, grant);

        assertThat(get(next.answer())).isPresent();
    }

    @Test
    void aWaitThatBeginsMeanwhileLivesThroughItToo() throws Exception {
        SqliteStore one = rig.open();
        SqliteStore two = rig.open(BRIEF);
        hold(two, "opened");
        Asked next;
        try (AutoCloseable block = block()) {
            next = Asked.of(two, waiting(NAME));
            await().during(BRIEF.multipliedBy(3)).until(() -> !next.answer().isDone());
        }
        assertThat(get(next.answer())).isPresent();
        assertThat(Rig.waiters(one, NAME)).isZero();
    }

    @Test
    void aWaitThatCouldNotEnterTheQueueCanBeCancelledAsSoonAsTheFileIsFree() throws Exception {
        SqliteStore one = rig.open();
        SqliteStore two = rig.open(BRIEF);
        hold(one, NAME);
        CompletableFuture<Asked> next = new CompletableFuture<>();
        AutoCloseable block = block();
        two.listen(new IgnoringListener() {
            @Override
            public void unreachable(String name, Throwable why) {
                next.join().cancel(); // before it tries again
                unblock(block);
            }
        });
        next.complete(Asked.of(two, waiting(NAME)));

        assertThat(get(next.join().answer())).isEmpty();
        assertThat(Rig.waiters(one, NAME)).isZero();
    }

    @Test
    void aRenewalWithoutAnAnswerIsUnknownWhereOthersWereAnswered() throws Exception {
        SqliteStore one = rig.open();
        int many = 2 * rig.database().chunk();
        List<Grant> grants = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            grants.add(hold(one, "name-" + i));
        }
        rig.close();
        SqliteStore two = rig.open(BRIEF);
        Map<?, Renewal> renewals;
        rig.sql("CREATE TRIGGER fault BEFORE UPDATE ON holdfast_lock WHEN OLD.name = 'name-99'"
                + " BEGIN SELECT RAISE(ABORT, 'fault'); END"); // sorted, it is in the last chunk
        renewals = get(two.renew(grants));

        assertThat(renewals).hasSize(many);
        assertThat(renewals.values())
                .filteredOn(r -> r.verdict() == Verdict.HELD)
                .hasSize(many / 2);
        assertThat(renewals.values())
                .filteredOn(r -> r.verdict() == Verdict.UNKNOWN)
                .hasSize(many / 2);
    }

    @Test
    void closingDoesNotWaitForAFileThatIsBlocked() throws Exception {
        SqliteStore one = rig.open();
        hold(one, NAME);
        Asked waiting = Asked.of(one, waiting(NAME));
        await().until(() -> Rig.waiters(one, NAME) == 1);
        try (AutoCloseable block = block()) {
            CompletableFuture<?> stuck = Asked.of(one, claim("other")).answer();
            CompletableFuture<?> behind = Asked.of(one, claim("another")).answer();

            long begun = System.nanoTime();
            one.close();

            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(5));
            for (CompletableFuture<?> each : List.of(stuck, behind, waiting.answer())) {
                assertThatThrownBy(() -> get(each)).isInstanceOf(ClientClosedException.class);
            }
        }
    }

    @Test
    void aGrantThatWasBrokenIsReportedBrokenThoughTheFileIsBlockedRightAfterwards() throws Exception {
        AtomicReference<AutoCloseable> block = new AtomicReference<>();
        AtomicBoolean armed = new AtomicBoolean();
        BootClock machine = new BootClock(
                "first boot",
                () -> { // asked at the beginning of each step
                    if (armed.get() && isFreeInItsRow() && armed.getAndSet(false)) {
                        block.set(blockNow());
                    }
                    return System.nanoTime();
                });
        try (SqliteStore one = SqliteStore.open(new SqliteDatabase(rig.file, machine, rig.time), rig.time, BRIEF)) {
            Grant grant = hold(one, NAME);
            armed.set(true);

            assertThat(get(one.breakGrant(NAME, grant.number(), true))).isTrue();

            assertThat(block).as("blocked between the steps").doesNotHaveNullValue();
            block.get().close();
            assertThat(release(one, grant)).isFalse();
        }
    }

    /** Its try is granted after the cancel, and the release of that grant finds the file blocked. */
    @Test
    void aWaitThatIsCancelledDuringItsTryLeavesNoGrantThoughTheFileIsBlockedRightAfterwards() throws Exception {
        AtomicReference<AutoCloseable> block = new AtomicReference<>();
        CountDownLatch trying = new CountDownLatch(1);
        AtomicBoolean armed = new AtomicBoolean();
        Claim claim = waiting(NAME);
        BootClock machine = new BootClock(
                rig.bootId,
                () -> { // asked at the beginning of each step
                    if (armed.get() && Thread.currentThread().getName().equals("holdfast-sqlite:" + rig.file)) {
                        trying.countDown();
                        if (isInItsRow(claim) && armed.getAndSet(false)) {
                            block.set(blockNow());
                        }
                    }
                    return rig.machine().nanoTime().getAsLong();
                });
        SqliteStore one = rig.open();
        Duration brief = Duration.ofSeconds(2);
        get(Asked.of(one, Rig.lease(claim(NAME), brief)).answer()).orElseThrow();
        try (SqliteStore two = SqliteStore.open(new SqliteDatabase(rig.file, machine, rig.time), rig.time, brief)) {
            two.listen(new IgnoringListener() {
                @Override
                public void unreachable(String name, Throwable why) {
                    unblock(block.get()); // on the thread that leaves the queue next
                }
            });
            Asked next = Asked.of(two, claim);
            await().until(() -> Rig.waiters(one, NAME) == 1);
            try (AutoCloseable before = block()) {
                armed.set(true);
                rig.pass(brief);
                assertThat(trying.await(20, TimeUnit.SECONDS)).isTrue();
                next.cancel();
            }

            assertThat(get(next.answer())).isEmpty();

            assertThat(block).as("blocked between the steps").doesNotHaveNullValue();
            assertThat(attempt(one, NAME)).isPresent();
        }
    }

    private boolean isInItsRow(Claim claim) {
        return rig.sql("SELECT claim_id FROM holdfast_lock WHERE name = '" + NAME + "'")
                .equals(List.of(claim.id().value()));
    }

    private static void unblock(AutoCloseable block) {
        try {
            block.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private boolean isFreeInItsRow() {
        return rig.sql("SELECT claim_id IS NULL FROM holdfast_lock WHERE name = '" + NAME + "'")
                .equals(List.of("1"));
    }

    private AutoCloseable blockNow() {
        try {
            return block();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void openingFailsWhenANewFileIsBlockedForTooLong() throws Exception {
        rig.sql("CREATE TABLE holdfast_meta (a)", "DROP TABLE holdfast_meta");
        try (AutoCloseable block = block()) {
            assertThatThrownBy(() -> rig.open(BRIEF))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(rig.file.toString());
        }
        hold(rig.open(), NAME);
    }
}
