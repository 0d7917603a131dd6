package dev.holdfast.cli;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Reads {@code 500ms 30s 5m 1h}, and a bare number as seconds, as flock does; refuses everything that could be meant
 * otherwise.
 */
final class DurationConverter implements ITypeConverter<Duration> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,12})(ms|s|m|h)");
    private static final Pattern SECONDS = Pattern.compile("\\d{1,12}(\\.\\d{1,3})?");
    private static final Duration LONGEST = Duration.ofDays(365);

    @Override
    public Duration convert(String value) {
        Duration duration = read(value);
        if (duration.compareTo(LONGEST) > 0) {
            throw refused(value);
        }
        return duration;
    }

    private static Duration read(String value) {
        if (SECONDS.matcher(value).matches()) {
            return Duration.ofMillis(new BigDecimal(value).movePointRight(3).longValueExact());
        }
        Matcher matcher = FORM.matcher(value);
        if (!matcher.matches()) {
            throw refused(value);
        }
        return Duration.of(Long.parseLong(matcher.group(1)), unit(matcher.group(2)));
    }

    private static ChronoUnit unit(String suffix) {
        return switch (suffix) {
            case "ms" -> ChronoUnit.MILLIS;
            case "s" -> ChronoUnit.SECONDS;
            case "m" -> ChronoUnit.MINUTES;
            default -> ChronoUnit.HOURS;
        };
    }

    private static TypeConversionException refused(String value) {
        return new TypeConversionException("'" + value
                + "' is not a duration; give seconds, or a whole number and ms, s, m or h: 500ms, 30s, 5m, 1h;"
                + " at most 8760h");
    }
}
