package dev.holdfast.internal;

import java.util.List;
import java.util.concurrent.TimeUnit;
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
    /** For a search that is stuck: it takes seconds of processor time, which are minutes where many others compute. */
    static final int PATIENCE_MINUTES = 20;

    /**
     * When an interleaving counts as hung. Lincheck's own limit is 30 s by the wall clock, within which the first one also
     * changes all classes that it goes through: too short where many others compute.
     */
    private static final long HUNG_MILLIS = TimeUnit.MINUTES.toMillis(10);

    private static final int SCENARIOS = Integer.getInteger("interleavings", 6);

    private static final int INVOCATIONS = 100;
    private static final int INVOCATIONS_OF_A_RACE = SCENARIOS * INVOCATIONS;

    private Interleavings() {}

    /** As many random scenarios as {@code -Dinterleavings} says, a hundred interleavings of each. */
    static void check(Class<?> operations) {
        patient()
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
     *
     * @param inOneStep classes whose methods are gone through in one step, so that the interleavings are spent on the
     *     others; in there nobody may wait for another thread
     */
    static void race(Class<?> operations, String one, String other, String... inOneStep) {
        List<List<Actor>> threads = List.of(List.of(actor(operations, one)), List.of(actor(operations, other)));
        ModelCheckingOptions options = patient()
                .iterations(0)
                .addCustomScenario(
                        new ExecutionScenario(List.of(), threads, List.of(actor(operations, "atRest")), null))
                .invocationsPerIteration(INVOCATIONS_OF_A_RACE);
        if (inOneStep.length > 0) {
            options.addGuarantee(ManagedStrategyGuaranteeKt.forClasses(inOneStep)
                    .methods(method -> !method.equals("beforeSending")) // which calls back, and so may wait
                    .treatAsAtomic());
        }
        options.check(operations);
    }

    /** The method has no other name for Java: it is public, and internal to Lincheck by its name alone. */
    private static ModelCheckingOptions patient() {
        ModelCheckingOptions options = new ModelCheckingOptions().invocationTimeout$lincheck(HUNG_MILLIS);
        options.addGuarantee(ManagedStrategyGuaranteeKt.forClasses(StackRoom.class.getName())
                .allMethods()
                .ignore()); // a recursion on purpose, which counts as a livelock
        return options;
    }

    private static Actor actor(Class<?> operations, String name) {
        try {
            return new Actor(operations.getMethod(name), List.of());
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }
}
