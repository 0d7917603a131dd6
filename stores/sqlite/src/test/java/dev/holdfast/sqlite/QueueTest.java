package dev.holdfast.sqlite;

import static dev.holdfast.sqlite.Rig.attempt;
import static dev.holdfast.sqlite.Rig.claim;
import static dev.holdfast.sqlite.Rig.get;
import static dev.holdfast.sqlite.Rig.hold;
import static dev.holdfast.sqlite.Rig.release;
import static dev.holdfast.sqlite.Rig.waiters;
import static dev.holdfast.sqlite.Rig.waiting;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Asked;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The queue of a name: whose turn it is, who loses it, and what is left in the file. */
class QueueTest extends OnOneFile {
    private static final Duration TURN = Duration.ofNanos(SqliteSql.TURN_MICROS * 1000);

    @Test
    void aTryDoesNotOvertakeAWaiterWhoseTurnItIs() {
        rig.freeze();
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        deadWaiter(1);

        release(one, grant);

        assertThat(attempt(one, NAME)).as("within the turn of another").isEmpty();
        rig.pass(TURN);
        assertThat(attempt(one, NAME)).as("after that turn was not taken").isPresent();
    }

    @Test
    void eachDeadWaiterAheadCostsOneTurn() {
        rig.freeze();
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        deadWaiter(3);
        release(one, grant);

        rig.pass(TURN.multipliedBy(2));
        assertThat(attempt(one, NAME)).isEmpty();

        rig.pass(TURN);
        assertThat(attempt(one, NAME)).isPresent();
    }

    @Test
    void howeverManyAreDeadFiveTurnsAreTheMost() {
        rig.freeze();
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        deadWaiter(40);
        release(one, grant);

        rig.pass(TURN.multipliedBy(4));
        assertThat(attempt(one, NAME)).isEmpty();

        rig.pass(TURN);
        assertThat(attempt(one, NAME)).isPresent();
    }

    @Test
    void whoWasPassedCountsNoMore() {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        deadWaiter(3);
        release(one, grant);
        rig.pass(TURN.multipliedBy(3));
        Grant passed = hold(one, NAME);
        assertThat(waiters(one, NAME)).isZero();

        release(one, passed);

        assertThat(attempt(one, NAME)).as("at once").isPresent();
    }

    @Test
    void aPlaceThatIsNotKeptAliveCountsNoMoreAfterTenSeconds() {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        deadWaiter(3);
        assertThat(waiters(one, NAME)).isEqualTo(3);

        rig.pass(SqliteLocks.PLACE_LIFE);

        assertThat(waiters(one, NAME)).isZero();
        release(one, grant);
        assertThat(attempt(one, NAME)).as("at once").isPresent();
    }

    @Test
    void aWaiterGetsInBehindDeadOnesWithoutAnythingChanging() {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        deadWaiter(2);
        Asked next = Asked.of(rig.open(), waiting(NAME));
        await().until(() -> waiters(one, NAME) == 3);

        release(one, grant);

        assertThat(get(next.answer())).isPresent();
    }

    @Test
    void aWaiterKeepsItsPlaceForAsLongAsItWaits() {
        SqliteStore one = rig.open();
        SqliteStore two = rig.open();
        Grant grant = hold(one, NAME);
        Asked first = Asked.of(two, waiting(NAME));
        await().until(() -> waiters(one, NAME) == 1);
        long place = place();

        for (int third = 0; third < 9; third++) {
            long before = placeExpiry();
            rig.pass(SqliteLocks.PLACE_LIFE.dividedBy(3));
            await().until(() -> placeExpiry() > before);
            get(one.renew(List.of(grant)));
        }

        assertThat(place()).isEqualTo(place);
        rig.freeze();
        Asked second = Asked.of(rig.open(), waiting(NAME));
        await().until(() -> waiters(one, NAME) == 2);
        release(one, grant);
        assertThat(get(first.answer())).isPresent();
        assertThat(second.answer()).isNotDone();
    }

    @Test
    void aWaiterWhosePlaceIsGoneEntersAgain() {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        Asked waiting = Asked.of(rig.open(), waiting(NAME));
        await().until(() -> waiters(one, NAME) == 1);
        long place = place();

        rig.sql("DELETE FROM holdfast_claim");

        await().until(() -> waiters(one, NAME) == 1);
        assertThat(place()).isGreaterThan(place);
        release(one, grant);
        assertThat(get(waiting.answer())).isPresent();
    }

    @Test
    void aWaiterThatWasPassedEntersAgainBehindTheOthers() {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        Asked passed = Asked.of(rig.open(), waiting(NAME));
        await().until(() -> waiters(one, NAME) == 1);
        long place = place();

        rig.sql("UPDATE holdfast_lock SET served = " + place);

        await().until(() -> waiters(one, NAME) == 1 && place() > place);
        release(one, grant);
        assertThat(get(passed.answer())).isPresent();
    }

    @Test
    void theQueueOfAServedNameIsEmpty() {
        SqliteStore one = rig.open();
        SqliteStore two = rig.open();
        Grant grant = hold(one, NAME);
        Asked next = Asked.of(two, waiting(NAME));
        await().until(() -> waiters(one, NAME) == 1);
        release(one, grant);
        assertThat(get(next.answer())).isPresent();

        assertThat(get(two.status(NAME)).waiting()).isZero(); // behind the removal of its place
        assertThat(rig.sql("SELECT count(*) FROM holdfast_claim")).containsExactly("0");
    }

    @Test
    void aWaiterThatDiedRightAfterItsGrantBlocksNobody() {
        SqliteStore one = rig.open();
        SqliteStore two = rig.open();
        Grant grant = hold(one, NAME);
        Asked next = Asked.of(two, waiting(NAME));
        await().until(() -> waiters(one, NAME) == 1);
        rig.sql("CREATE TABLE kept AS SELECT * FROM holdfast_claim");
        release(one, grant);
        Grant granted = get(next.answer()).orElseThrow();
        get(two.status(NAME)); // behind the removal of its place

        rig.sql("INSERT INTO holdfast_claim SELECT * FROM kept"); // as if it had not come to that

        assertThat(waiters(one, NAME)).isZero();
        release(one, granted);
        assertThat(attempt(one, NAME)).as("at once").isPresent();
    }

    @Test
    void claimsOfOneClientForManyNamesAllWaitAndAreAllServed() throws SQLException {
        SqliteStore one = rig.open();
        SqliteStore two = rig.open();
        int names = 500;
        List<Grant> grants = new ArrayList<>();
        List<Asked> pending = new ArrayList<>();
        for (int i = 0; i < names; i++) {
            grants.add(hold(one, "name-" + i));
            pending.add(Asked.of(two, waiting("name-" + i)));
        }
        await().until(() -> rig.sql("SELECT count(*) FROM holdfast_claim").contains(names + ""));
        try (Connection watch = rig.connect()) {
            long before = commits(watch);
            rig.pass(SqliteLocks.PLACE_LIFE.dividedBy(3));
            await().until(() -> commits(watch) > before);
            assertThat(commits(watch) - before).as("commits to keep 500 places").isLessThanOrEqualTo(2);
        }

        grants.forEach(one::release);

        for (Asked each : pending) {
            assertThat(get(each.answer())).isPresent();
        }
    }

    /** Rises with every commit of others than this connection. */
    private static long commits(Connection watch) throws SQLException {
        try (var statement = watch.createStatement();
                var rows = statement.executeQuery("PRAGMA data_version")) {
            return rows.getLong(1);
        }
    }

    @Test
    void aClaimThatIsRepeatedWhileOthersWaitSucceedsAndPassesNobody() {
        SqliteStore one = rig.open();
        Claim claim = claim(NAME);
        Grant first = get(Asked.of(one, claim).answer()).orElseThrow();
        Asked next = Asked.of(rig.open(), waiting(NAME));
        await().until(() -> waiters(one, NAME) == 1);

        Optional<Grant> again = get(Asked.of(one, claim).answer());

        assertThat(again).isPresent();
        assertThat(again.get().number()).isGreaterThan(first.number());
        assertThat(waiters(one, NAME)).isEqualTo(1);
        release(one, again.get());
        assertThat(get(next.answer())).isPresent();
    }

    @Test
    void anExtensionIsRefusedOnlyByWaitersThatCount() {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        deadWaiter(1);
        assertThat(get(one.extend(grant))).isEmpty();

        rig.pass(SqliteLocks.PLACE_LIFE);

        assertThat(get(one.extend(grant))).isPresent();
    }

    @Test
    void aRenewalTellsWhetherOthersWait() {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);
        assertThat(get(one.renew(List.of(grant))).get(grant.id()).contended()).isFalse();

        deadWaiter(1);
        assertThat(get(one.renew(List.of(grant))).get(grant.id()).contended()).isTrue();

        rig.pass(SqliteLocks.PLACE_LIFE);
        assertThat(get(one.renew(List.of(grant))).get(grant.id()).contended()).isFalse();
    }

    /** Places in the queue of claims whose process is gone. */
    private void deadWaiter(int count) {
        try (SqliteLocks table = rig.database().open(new BusyTimeout(Duration.ofSeconds(10)))) {
            for (int i = 0; i < count; i++) {
                table.enqueue(waiting(NAME));
            }
        }
    }

    private long place() {
        return Long.parseLong(rig.sql("SELECT max(arrival) FROM holdfast_claim").get(0));
    }

    private long placeExpiry() {
        return Long.parseLong(
                rig.sql("SELECT min(expires_at) FROM holdfast_claim").get(0));
    }
}
