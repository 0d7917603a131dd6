package dev.holdfast.internal;

import java.util.List;
import java.util.stream.Stream;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;

/**
 * Runs a class of operations through many interleavings, each chosen and replayable, by Lincheck's model checker (Koval
 * and others, "Lincheck: A Practical Framework for Testing Concurrent Data Structures on JVM", CAV 2023). What each
 * operation returns must be explained by some order of them, one after another.
 */
final class Interleavings {
    private static final int SCENARIOS = Integer.getInteger("interleavings", 6);

    private static final int INVOCATIONS = 100;
    private static final int INVOCATIONS_OF_A_RACE = SCENARIOS * INVOCATIONS;

    /**
     * What a race of a lock's callers goes through in one step, so that the few interleavings are spent on the queue
     * itself. None of them may wait for another thread in there, nor call back into the queue while that holds its mutex.
     */
    private static final String[] IN_ONE_STEP = Stream.of(
                    "memory.MemorySession",
                    "memory.MemoryStore",
                    "memory.MemoryLock",
                    "internal.CountedStore",
                    "internal.Counters",
                    "internal.Events",
                    "internal.Host",
                    "internal.Keeper",
                    "internal.LiveGrant",
                    "internal.LiveHold",
                    "internal.Names",
                    "internal.Observer",
                    "internal.Place",
                    "internal.Returns",
                    "internal.Teller")
            .map("dev.holdfast."::concat)
            .toArray(String[]::new);

    private Interleavings() {}

    /** As many random scenarios as {@code -Dinterleavings} says, a hundred interleavings of each. */
    static void check(Class<?> operations) {
        new ModelCheckingOptions()
                .iterations(SCENARIOS)
                .invocationsPerIteration(INVOCATIONS)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(1)
                .check(operations);
    }

    /**
     * Two operations, each on a thread of its own, and {@code atRest} after both: what they return must be what they
     * return in one order or in the other.
     */
    static void race(Class<?> operations, String one, String other) {
        List<List<Actor>> threads = List.of(List.of(actor(operations, one)), List.of(actor(operations, other)));
        new ModelCheckingOptions()
                .iterations(0)
                .addCustomScenario(
                        new ExecutionScenario(List.of(), threads, List.of(actor(operations, "atRest")), null))
                .invocationsPerIteration(INVOCATIONS_OF_A_RACE)
                .addGuarantee(ManagedStrategyGuaranteeKt.forClasses(IN_ONE_STEP)
                        .allMethods()
                        .treatAsAtomic())
                .check(operations);
    }

    private static Actor actor(Class<?> operations, String name) {
        try {
            return new Actor(operations.getMethod(name), List.of());
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }
}
