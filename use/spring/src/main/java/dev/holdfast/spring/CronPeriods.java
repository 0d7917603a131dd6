package dev.holdfast.spring;

import dev.holdfast.Schedule;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.support.CronExpression;

/**
 * The periods between the times of one of Spring's cron expressions.
 *
 * <p>Such an expression knows the next time after a moment, not the last one before it. That is found by halving: a
 * moment lies before the last time exactly if the next time after the moment is not in the future.
 *
 * <p>A time that comes twice, as the clock is set back, counts once, the first time: work of a night is done once in it. Only where
 * the hour begins with {@code *} it counts twice.
 */
final class CronPeriods implements Schedule {
    /** A time on the 29th of February can be eight years away. */
    private static final long LONGEST_SECONDS = 9L * 366 * 86_400;

    private static final Pattern EACH_HOUR = Pattern.compile("^(@hourly|\\S+\\s+\\S+\\s+\\*)");

    private final CronExpression expression;
    private final ZoneId zone;
    private final boolean isEachHour;

    /**
     * The periods of an expression.
     *
     * @throws IllegalArgumentException if it is none
     */
    CronPeriods(String expression, ZoneId zone) {
        this.expression = CronExpression.parse(expression);
        this.zone = zone;
        this.isEachHour = EACH_HOUR.matcher(expression.strip()).find();
    }

    @Override
    public Period periodAt(Instant moment) {
        Instant end = next(moment);
        Instant start = moment.minusSeconds(LONGEST_SECONDS);
        if (end == null || !hasTimeIn(start, moment)) {
            throw new IllegalStateException(
                    "the cron expression '" + expression + "' has no time before or after " + moment);
        }
        Instant late = moment;
        while (late.getEpochSecond() - start.getEpochSecond() > 1) {
            Instant middle = Instant.ofEpochSecond((start.getEpochSecond() + late.getEpochSecond()) / 2);
            if (hasTimeIn(middle, moment)) {
                start = middle;
            } else {
                late = middle;
            }
        }
        Instant last = next(start);
        return new Period(last == null ? start : last, end);
    }

    /** Whether there is a time after one moment and not after the other. */
    private boolean hasTimeIn(Instant after, Instant until) {
        Instant next = next(after);
        return next != null && !next.isAfter(until);
    }

    private @Nullable Instant next(Instant after) {
        ZonedDateTime next = expression.next(after.atZone(zone));
        while (next != null && !isEachHour && isSecondOfTwo(next)) {
            next = expression.next(next);
        }
        return next == null ? null : next.toInstant();
    }

    /** Whether the clock shows this time once more, after it was set back. */
    private boolean isSecondOfTwo(ZonedDateTime time) {
        return !time.withEarlierOffsetAtOverlap().equals(time);
    }

    @Override
    public String toString() {
        return "cron " + expression + " " + zone;
    }
}
