package dev.holdfast.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockClient;
import dev.holdfast.OnceOptions;
import dev.holdfast.OnceResult;
import dev.holdfast.Schedule;
import dev.holdfast.Schedule.Period;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Periods by cron expressions, in a zone that changes its clocks too. */
class CronScheduleTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    /** Its clocks are changed by half an hour. */
    private static final ZoneId LORD_HOWE = ZoneId.of("Australia/Lord_Howe");

    @Test
    void aPeriodBeginsAtEachTimeOfTheExpression() {
        Schedule nightly = CronSchedule.of("0 3 * * *", BERLIN);

        assertThat(nightly.periodAt(berlin("2026-11-23T02:59:59")))
                .isEqualTo(period("2026-11-22T03:00", "2026-11-23T03:00"));
        assertThat(nightly.periodAt(berlin("2026-11-23T03:00")))
                .isEqualTo(period("2026-11-23T03:00", "2026-11-24T03:00"));
    }

    @Test
    void theZoneIsThatOfTheScheduleAndNotThatOfTheMachine() {
        Instant moment = Instant.parse("2026-11-23T05:00:00Z");

        assertThat(CronSchedule.of("0 3 * * *", ZoneId.of("UTC"))
                        .periodAt(moment)
                        .start())
                .isEqualTo(Instant.parse("2026-11-23T03:00:00Z"));
        assertThat(CronSchedule.of("0 3 * * *", ZoneId.of("America/New_York"))
                        .periodAt(moment)
                        .start())
                .isEqualTo(Instant.parse("2026-11-22T08:00:00Z"));
    }

    @Test
    void daysOfTheMonthAndOfTheWeekAddUpAsInACrontab() {
        Schedule schedule = CronSchedule.of("0 0 13 * 5", BERLIN); // each Friday, and each 13th

        assertThat(schedule.periodAt(berlin("2026-11-13T12:00")))
                .isEqualTo(period("2026-11-13T00:00", "2026-11-20T00:00"));
        assertThat(schedule.periodAt(berlin("2026-12-12T12:00")))
                .isEqualTo(period("2026-12-11T00:00", "2026-12-13T00:00"));
    }

    @Test
    void aTimeThatIsLeftOutInSpringCountsAsTheMomentOfTheChange() {
        Schedule schedule = CronSchedule.of("30 2 * * *", BERLIN);

        assertThat(schedule.periodAt(berlin("2026-03-29T01:59")))
                .isEqualTo(period("2026-03-28T02:30", "2026-03-29T03:00"));
        assertThat(schedule.periodAt(berlin("2026-03-29T03:00")))
                .isEqualTo(period("2026-03-29T03:00", "2026-03-30T02:30"));
    }

    @Test
    void aTimeThatComesTwiceInAutumnCountsOnceTheFirstTime() {
        Schedule schedule = CronSchedule.of("30 2 * * *", BERLIN);
        Instant first = Instant.parse("2026-10-25T00:30:00Z");
        Instant next = Instant.parse("2026-10-26T01:30:00Z");

        for (int minutes : new int[] {0, 29, 30, 31, 59, 60, 61, 120}) {
            assertThat(schedule.periodAt(first.plus(Duration.ofMinutes(minutes))))
                    .isEqualTo(new Period(first, next));
        }
    }

    @Test
    void eachHourCountsWhereTheHourIsAStarThoughItComesTwice() {
        Schedule hourly = CronSchedule.of("0 * * * *", BERLIN);

        for (Instant hour = Instant.parse("2026-10-24T22:00:00Z");
                hour.isBefore(Instant.parse("2026-10-25T04:00:00Z"));
                hour = hour.plus(Duration.ofHours(1))) {
            assertThat(hourly.periodAt(hour)).isEqualTo(new Period(hour, hour.plus(Duration.ofHours(1))));
        }
    }

    /** However a moment is met, its period is the same, and the next begins where it ends. */
    @ParameterizedTest
    @ValueSource(strings = {"30 2 * * *", "0 * * * *", "*/10 * * * *", "15 2 * * 0", "15,45 1-3 * * *", "0 0 29 2 *"})
    void periodsFollowEachOtherWithoutAGapAndWithoutAnOverlap(String expression) {
        for (ZoneId zone : List.of(BERLIN, LORD_HOWE)) {
            Schedule schedule = CronSchedule.of(expression, zone);
            for (LocalDateTime change : changes(zone)) {
                Instant from = change.minusHours(3).atZone(zone).toInstant();
                Period last = schedule.periodAt(from);
                for (int i = 1; i < 6 * 60; i += 7) {
                    Instant moment = from.plus(Duration.ofMinutes(i)).plusMillis(i % 2);
                    Period period = schedule.periodAt(moment);
                    assertThat(moment).isBetween(period.start(), period.end().minusMillis(1));
                    assertThat(period.start()).isIn(last.start(), last.end());
                    assertThat(schedule.periodAt(period.start())).isEqualTo(period);
                    assertThat(schedule.periodAt(period.end()).start()).isEqualTo(period.end());
                    last = period;
                }
            }
        }
    }

    private static List<LocalDateTime> changes(ZoneId zone) {
        Instant first = Instant.parse("2026-01-01T00:00:00Z");
        return Stream.iterate(
                        zone.getRules().nextTransition(first),
                        change -> change != null,
                        change -> zone.getRules().nextTransition(change.getInstant()))
                .limit(2)
                .map(change -> change.getDateTimeBefore())
                .toList();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "3 * * *",
                "0 24 * * *",
                "0 0 30 2 *",
                "@sometimes",
                "0 3 * * * *",
                "0 3 */2 * 1",
                "0 3 1 * */2"
            })
    void whatNamesNoTimeIsRefused(String expression) {
        assertThatThrownBy(() -> CronSchedule.of(expression, BERLIN))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + expression + "' is no cron expression, such as '0 3 * * *'");
    }

    @Test
    void workRunsOnceInAPeriodOfTheExpression() {
        try (LockClient client = LockClient.connect("mem:")) {
            OnceOptions yearly = OnceOptions.on(CronSchedule.of("0 0 1 1 *", BERLIN));
            OnceResult first = client.once("report", yearly).run(turn -> {});
            OnceResult second = client.once("report", yearly).run(turn -> {});

            assertThat(first.ran()).isTrue();
            assertThat(second.ran()).isFalse();
        }
    }

    private static Instant berlin(String local) {
        return ZonedDateTime.of(LocalDateTime.parse(local), BERLIN).toInstant();
    }

    private static Period period(String start, String end) {
        return new Period(berlin(start), berlin(end));
    }
}
