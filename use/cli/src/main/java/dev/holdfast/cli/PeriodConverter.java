package dev.holdfast.cli;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads the time between two reads of a store. Reading more often would slow the store for its other clients. */
final class PeriodConverter implements ITypeConverter<Duration> {
    private static final Duration SHORTEST = Duration.ofMillis(100);

    @Override
    public Duration convert(String value) {
        Duration period = new DurationConverter().convert(value);
        if (period.compareTo(SHORTEST) < 0) {
            throw new TypeConversionException("'" + value + "' is too short; give at least 100ms");
        }
        return period;
    }
}
