package dev.holdfast.sqlite;

import static dev.holdfast.sqlite.Rig.attempt;
import static dev.holdfast.sqlite.Rig.claim;
import static dev.holdfast.sqlite.Rig.floor;
import static dev.holdfast.sqlite.Rig.get;
import static dev.holdfast.sqlite.Rig.hold;
import static dev.holdfast.sqlite.Rig.release;
import static dev.holdfast.sqlite.Rig.waiting;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockStatus;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which clock decides what: the machine's ends leases, the wall clock only seeds numbers, a restart frees all. */
class SqliteClockTest extends OnOneFile {
    @Test
    void aLeaseEndsByTheMachinesClock() {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);

        rig.pass(Rig.LEASE.minusSeconds(10));
        assertThat(attempt(one, NAME)).isEmpty();
        assertThat(get(one.status(NAME)).isHeld()).isTrue();

        rig.pass(Duration.ofSeconds(10));
        assertThat(get(one.status(NAME)).isHeld()).isFalse();
        assertThat(get(one.renew(List.of(grant))).get(grant.id()).verdict()).isEqualTo(Verdict.LOST);
        assertThat(get(one.extend(grant))).isEmpty();
        assertThat(release(one, grant)).isFalse();
        assertThat(attempt(one, NAME)).isPresent();
    }

    @Test
    void aWaiterIsInWhenTheLeaseEnds() {
        SqliteStore one = rig.open();
        hold(one, NAME);
        Asked next = Asked.of(rig.open(), waiting(NAME));
        await().until(() -> Rig.waiters(one, NAME) == 1);

        rig.pass(Rig.LEASE);

        assertThat(get(next.answer())).isPresent();
    }

    @Test
    void theWallClockEndsNoLease() {
        SqliteStore one = rig.open();
        Grant grant = hold(one, NAME);

        rig.time.wallSkew.set(Duration.ofDays(365).toMillis());

        assertThat(attempt(one, NAME)).isEmpty();
        assertThat(get(one.renew(List.of(grant))).get(grant.id()).verdict()).isEqualTo(Verdict.HELD);
    }

    @Test
    void numbersRiseWhenTheWallClockIsSetBack() {
        SqliteStore one = rig.open();
        Grant before = hold(one, NAME);
        release(one, before);

        rig.time.wallSkew.set(Duration.ofDays(-365).toMillis());

        assertThat(hold(one, NAME).number()).isGreaterThan(before.number());
    }

    @Test
    void numbersRiseWhenTheWallClockIsSetBackAndTheRowWasPurged() {
        SqliteStore one = rig.open();
        Grant before = hold(one, NAME);
        release(one, before);
        rig.pass(Duration.ofHours(2));
        purge();
        assertThat(rig.sql("SELECT count(*) FROM holdfast_lock")).containsExactly("0");

        rig.time.wallSkew.set(Duration.ofDays(-365).toMillis());

        assertThat(hold(one, NAME).number()).isGreaterThan(before.number());
    }

    @Test
    void numbersRiseWhenTheFileWasDeletedAndTheClientRemembers() throws IOException {
        SqliteStore one = rig.open();
        Grant before = hold(one, NAME);
        rig.close();
        Files.delete(rig.file);
        rig.time.wallSkew.set(Duration.ofDays(-365).toMillis());

        Grant after = get(Asked.of(rig.open(), floor(claim(NAME), before.number()))
                        .answer())
                .orElseThrow();

        assertThat(after.number()).isGreaterThan(before.number());
    }

    @Test
    void aWallClockGoneWildDoesNotUseUpTheTokens() {
        SqliteStore one = rig.open();
        rig.time.wallSkew.set(Long.MAX_VALUE / 4_000);

        long number = hold(one, NAME).number();

        assertThat(number).isLessThan(Long.MAX_VALUE / 1024 / 2 + 1).isPositive();
    }

    @Test
    void aRestartOfTheMachineFreesEverything() {
        SqliteStore one = rig.open();
        Grant held = hold(one, NAME);
        Asked.of(one, waiting(NAME));
        await().until(() -> Rig.waiters(one, NAME) == 1);

        rig.reboot();

        SqliteStore two = rig.open();
        assertThat(get(two.list(""))).isEmpty();
        assertThat(get(two.status(NAME))).isEqualTo(LockStatus.free(NAME, 0));
        assertThat(get(two.renew(List.of(held))).get(held.id()).verdict()).isEqualTo(Verdict.LOST);
        assertThat(hold(two, NAME).number()).isGreaterThan(held.number());
    }

    @Test
    void theQueueWorksAfterARestartOfTheMachine() {
        SqliteStore one = rig.open();
        Grant before = hold(one, NAME);
        Asked waiting = Asked.of(one, waiting(NAME));
        await().until(() -> Rig.waiters(one, NAME) == 1);
        release(one, before);
        get(waiting.answer());

        rig.reboot();

        SqliteStore two = rig.open();
        Grant grant = hold(two, NAME);
        Asked next = Asked.of(rig.open(), waiting(NAME));
        await().until(() -> Rig.waiters(two, NAME) == 1);
        assertThat(next.answer()).isNotDone();
        release(two, grant);
        assertThat(get(next.answer())).isPresent();
    }

    @Test
    void openingAgainInTheSameRunOfTheMachineFreesNothing() {
        Grant held = hold(rig.open(), NAME);
        rig.close();

        SqliteStore two = rig.open();

        assertThat(attempt(two, NAME)).isEmpty();
        assertThat(get(two.renew(List.of(held))).get(held.id()).verdict()).isEqualTo(Verdict.HELD);
    }

    @Test
    void aProcessWhoseClockIsBehindIsRefused() {
        rig.open();
        rig.pass(Duration.ofMinutes(-1));

        assertThatThrownBy(rig::open)
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining(rig.file.toString())
                .hasMessageContaining("clock of this process is behind");
    }

    @Test
    void aTimeNamespaceWithAShiftedClockIsRefused() throws IOException {
        Path offsets = folder.resolve("timens_offsets");
        BootClock.refuseShiftedClock(offsets);
        Files.writeString(offsets, "monotonic           0         0\nboottime            0         0\n");
        BootClock.refuseShiftedClock(offsets);

        Files.writeString(offsets, "monotonic       86400         0\nboottime            0         0\n");

        assertThatThrownBy(() -> BootClock.refuseShiftedClock(offsets))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("time namespace");
    }

    @Test
    void theMachineKnowsItsBoot() {
        assertThat(BootClock.local().bootId())
                .isNotBlank()
                .isEqualTo(BootClock.local().bootId());
    }

    private void purge() {
        Runnable task = rig.time.scheduled.remove();
        task.run();
        await().until(() -> !rig.time.scheduled.isEmpty());
    }
}
