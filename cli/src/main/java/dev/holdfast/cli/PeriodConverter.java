package dev.holdfast.cli;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads the time between two looks at a store, which has more to do than to be looked at. */
final class PeriodConverter implements ITypeConverter<Duration> {
    private static final Duration SHORTEST = Duration.ofMillis(100);

    @Override
    public Duration convert(String value) {
        Duration period = new DurationConverter().convert(value);
        if (period.compareTo(SHORTEST) < 0) {
            throw new TypeConversionException("'" + value + "' is too short; the store is asked every 100ms at most");
        }
        return period;
    }
}
