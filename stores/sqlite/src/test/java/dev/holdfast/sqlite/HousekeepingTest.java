package dev.holdfast.sqlite;

import static dev.holdfast.sqlite.Rig.attempt;
import static dev.holdfast.sqlite.Rig.get;
import static dev.holdfast.sqlite.Rig.hold;
import static dev.holdfast.sqlite.Rig.release;
import static dev.holdfast.sqlite.Rig.waiting;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is removed when nobody has used it for an hour, and what never is. */
class HousekeepingTest extends OnOneFile {
    @Test
    void whatNobodyHasUsedForAnHourIsRemovedWhateverTheNumberOfNames() {
        SqliteStore one = rig.open();
        for (int i = 0; i < 1_234; i++) {
            release(one, hold(one, "name-" + i));
        }
        rig.pass(Duration.ofMinutes(59));
        runHousekeeping();
        assertThat(rows()).isEqualTo(1_234);

        rig.pass(Duration.ofMinutes(2));
        runHousekeeping();

        assertThat(rows()).isZero();
    }

    @Test
    void whatIsHeldOrWasUsedLatelyStays() {
        SqliteStore one = rig.open();
        Duration eleven = Duration.ofMinutes(11);
        Grant held = get(Asked.of(one, Rig.lease(Rig.claim("held"), eleven)).answer())
                .orElseThrow();
        release(one, hold(one, "idle"));
        release(one, hold(one, "used lately"));
        hold(one, "run out");
        for (int i = 0; i < 7; i++) {
            rig.pass(Duration.ofMinutes(10));
            get(one.renew(List.of(held)));
        }
        release(one, hold(one, "used lately"));

        runHousekeeping();

        assertThat(rig.sql("SELECT name FROM holdfast_lock ORDER BY name")).containsExactly("held", "used lately");
        assertThat(attempt(one, "held")).isEmpty();
        assertThat(get(one.renew(List.of(held))).get(held.id()).verdict()).isEqualTo(Verdict.HELD);
    }

    @Test
    void placesOfDeadWaitersAreRemoved() {
        SqliteStore one = rig.open();
        hold(one, "held");
        try (SqliteLocks table = rig.database().open(new BusyTimeout(Duration.ofSeconds(10)))) {
            table.enqueue(waiting("held"));
            rig.pass(SqliteLocks.PLACE_LIFE);
            table.enqueue(waiting("held"));
        }
        rig.pass(SqliteLocks.PLACE_LIFE.plusSeconds(5));

        runHousekeeping();

        assertThat(rig.sql("SELECT count(*) FROM holdfast_claim")).containsExactly("1");
    }

    @Test
    void theHighestNumberThatWasRemovedIsRemembered() {
        SqliteStore one = rig.open();
        hold(one, "low");
        long high = get(Asked.of(one, Rig.floor(Rig.claim("high"), Long.MAX_VALUE / 4096))
                        .answer())
                .orElseThrow()
                .number();
        rig.pass(Duration.ofHours(2));

        runHousekeeping();

        assertThat(rig.sql("SELECT floor FROM holdfast_meta")).containsExactly(high + "");
    }

    @Test
    void itComesAgainAndEndsWithTheStore() {
        SqliteStore one = rig.open();
        assertThat(rig.time.scheduled).hasSize(1);
        runHousekeeping();
        assertThat(rig.time.scheduled).hasSize(1);
        one.close();
        assertThat(rig.time.scheduled).isEmpty();
    }

    @Test
    void clientsOfShortLivesDoItAsTheyEnd() {
        SqliteStore one = rig.open();
        for (int i = 0; i < 1_234; i++) {
            release(one, hold(one, "name-" + i));
        }
        one.close();
        assertThat(rows()).isEqualTo(1_234);
        rig.pass(Duration.ofMinutes(61));

        for (int lives = 0; lives < 20 && rows() > 1; lives++) {
            SqliteStore brief = rig.open();
            release(brief, hold(brief, "used"));
            brief.close();
        }

        assertThat(rows()).isEqualTo(1);
    }

    private int rows() {
        return Integer.parseInt(rig.sql("SELECT count(*) FROM holdfast_lock").get(0));
    }

    private void runHousekeeping() {
        rig.time.scheduled.remove().run();
        await().until(() -> !rig.time.scheduled.isEmpty());
    }
}
