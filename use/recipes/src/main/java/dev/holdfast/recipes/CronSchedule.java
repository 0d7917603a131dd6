package dev.holdfast.recipes;

import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import dev.holdfast.Schedule;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Optional;

/**
 * Periods that begin at the times of a cron expression, as {@code crontab} has them: five fields for minute, hour, day of
 * the month, month and day of the week.
 *
 * <pre>{@code
 * Schedule nightly = CronSchedule.of("0 3 * * *", ZoneId.of("Europe/Berlin"));
 * client.once("backup", OnceOptions.on(nightly)).run(turn -> backup());
 * }</pre>
 *
 * <p>Where the clocks of the zone are changed:
 *
 * <ul>
 *   <li>A time that is left out in spring counts as the moment of the change: the period of {@code 30 2 * * *} begins at
 *       03:00 on that day, when there is no 02:30.
 *   <li>A time that comes twice in autumn counts once, the first time. Only where the hour begins with {@code *} it counts
 *       twice, so that {@code 0 * * * *} begins a period in each of the two hours.
 * </ul>
 *
 * <p>The library {@code com.cronutils:cron-utils} reads the expression, and must be on the class path. It is asked for times
 * without a zone only. Immutable and thread-safe.
 */
public final class CronSchedule implements Schedule {
    private final String expression;
    private final ZoneId zone;
    private final ZoneRules rules;
    private final ExecutionTime times;
    private final boolean everyHour;

    private CronSchedule(String expression, ZoneId zone, ExecutionTime times, boolean everyHour) {
        this.expression = expression;
        this.zone = zone;
        this.rules = zone.getRules();
        this.times = times;
        this.everyHour = everyHour;
    }

    /**
     * A schedule.
     *
     * @param expression five fields; if both days are restricted, a day that is either of them counts, as in
     *     {@code crontab}
     * @param zone whose clocks the expression means
     * @throws IllegalArgumentException if the expression is none, or names no time at all
     */
    public static CronSchedule of(String expression, ZoneId zone) {
        try {
            if (expression.indexOf('|') >= 0) {
                throw new IllegalArgumentException("one expression, not several between '|'");
            }
            ExecutionTime times = ExecutionTime.forCron(
                    new CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX)).parse(expression));
            String[] field = expression.strip().split("\\s+");
            refuseStepsBesideDays(field[2], field[4]);
            boolean everyHour = field[1].startsWith("*");
            CronSchedule made = new CronSchedule(expression, zone, times, everyHour);
            Period unused = made.periodAt(Instant.EPOCH);
            return made;
        } catch (IllegalArgumentException | DateTimeException | IndexOutOfBoundsException e) {
            throw new IllegalArgumentException(
                    "'" + expression + "' is no cron expression, such as '0 3 * * *' for 03:00 each day: "
                            + e.getMessage(),
                    e);
        }
    }

    /** In a crontab such days must be both, not either: it takes a field that begins with a star for unrestricted. */
    private static void refuseStepsBesideDays(String ofMonth, String ofWeek) {
        boolean both = !ofMonth.equals("*") && !ofWeek.equals("*");
        if (both && (ofMonth.startsWith("*") || ofWeek.startsWith("*"))) {
            throw new IllegalArgumentException("steps such as */2 in one field of days go with * in the other");
        }
    }

    @Override
    public Period periodAt(Instant moment) {
        return new Period(lastNotAfter(moment), firstAfter(moment));
    }

    /** From change to change of the clocks, forwards: between two of them local time is the moment plus an offset. */
    private Instant firstAfter(Instant moment) {
        Instant from = moment;
        LocalDateTime after = local(moment);
        Optional<ZoneOffsetTransition> past = Optional.ofNullable(rules.previousTransition(moment.plusNanos(1)));
        LocalDateTime repeatedUntil = past.flatMap(this::repeatedUntil).orElse(LocalDateTime.MIN);
        boolean inclusive = false;
        if (after.isBefore(repeatedUntil)) { // in the hour that comes for the second time
            after = repeatedUntil;
            inclusive = true;
        }
        while (true) {
            LocalDateTime next = next(inclusive ? after.minusSeconds(1) : after);
            ZoneOffset offset = rules.getOffset(from);
            ZoneOffsetTransition change = rules.nextTransition(from);
            if (change == null || next.isBefore(change.getDateTimeBefore())) {
                return next.toInstant(offset);
            }
            if (change.isGap() && next.isBefore(change.getDateTimeAfter())) {
                return change.getInstant(); // it is left out
            }
            from = change.getInstant();
            after = repeatedUntil(change).orElse(change.getDateTimeAfter());
            inclusive = true;
        }
    }

    /** The same, backwards. */
    private Instant lastNotAfter(Instant moment) {
        Instant from = moment;
        LocalDateTime before = local(moment).truncatedTo(ChronoUnit.SECONDS).plusSeconds(1);
        while (true) {
            LocalDateTime last = last(before);
            ZoneOffset offset = rules.getOffset(from);
            ZoneOffsetTransition change = rules.previousTransition(from.plusNanos(1));
            if (change == null) {
                return last.toInstant(offset);
            }
            LocalDateTime begins = repeatedUntil(change).orElse(change.getDateTimeAfter());
            if (!last.isBefore(begins)) {
                return last.toInstant(offset);
            }
            if (change.isGap() && !last.isBefore(change.getDateTimeBefore())) {
                return change.getInstant();
            }
            from = change.getInstant().minusNanos(1);
            before = change.getDateTimeBefore();
        }
    }

    /** Where local times count again after the clocks were set back; empty if they all do. */
    private Optional<LocalDateTime> repeatedUntil(ZoneOffsetTransition change) {
        return change.isOverlap() && !everyHour ? Optional.of(change.getDateTimeBefore()) : Optional.empty();
    }

    private LocalDateTime local(Instant moment) {
        return LocalDateTime.ofInstant(moment, rules.getOffset(moment));
    }

    private LocalDateTime next(LocalDateTime after) {
        return found(times.nextExecution(after.atZone(ZoneOffset.UTC)));
    }

    private LocalDateTime last(LocalDateTime before) {
        return found(times.lastExecution(before.atZone(ZoneOffset.UTC)));
    }

    private static LocalDateTime found(Optional<ZonedDateTime> time) {
        return time.orElseThrow(() -> new IllegalArgumentException("it names no time at all"))
                .toLocalDateTime();
    }

    @Override
    public String toString() {
        return "CronSchedule[" + expression + ", " + zone + "]";
    }
}
