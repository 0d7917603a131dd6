package dev.holdfast.internal;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;

/**
 * Runs a class of operations through many interleavings, each chosen and replayable, by Lincheck's model checker (Koval
 * and others, "Lincheck: A Practical Framework for Testing Concurrent Data Structures on JVM", CAV 2023). What each
 * operation returns must be explained by some order of them, one after another.
 */
final class Interleavings {
    private static final int SCENARIOS = Integer.getInteger("interleavings", 6);

    private Interleavings() {}

    /** As many random scenarios as {@code -Dinterleavings} says, a hundred interleavings of each. */
    static void check(Class<?> operations) {
        new ModelCheckingOptions()
                .iterations(SCENARIOS)
                .invocationsPerIteration(100)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(1)
                .check(operations);
    }
}
