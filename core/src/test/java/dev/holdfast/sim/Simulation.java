package dev.holdfast.sim;

import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Deterministic simulation of the engine: many schedules, one after another, each from its seed alone.
 *
 * <p>The code under test is the real engine of {@code dev.holdfast.internal} and the real {@code MemoryStore}. Everything
 * around them is made up, in one thread: true time ({@link World}), clocks that drift ({@link Clock}), a network that
 * loses, delays, doubles and reorders ({@link Link}), machines that crash, stop and sleep ({@link Machine}), a server
 * that stalls and restarts ({@link Server}), callers ({@link Caller}), and bad luck ({@link Nemesis}). A {@link Judge}
 * that sees true time and every clock says after each event whether a {@link Rule} was broken.
 *
 * <pre>
 *   seed ──► Dice ──► Setting, Nemesis
 *                        │
 *   Caller ─► Engine ─► RemoteStore ─► Link ─► Server ─► MemoryStore        on one World, one thread
 *   Caller ─►  (real)                                     (real)
 *      └────────┴──────── Judge ◄──────── Ledger ◄──┘
 * </pre>
 *
 * <p>The method is that of FoundationDB's simulator (Will Wilson, "Testing Distributed Systems w/ Deterministic
 * Simulation", Strange Loop 2014; Zhou et al., "FoundationDB: A Distributed Unbundled Transactional Key Value Store",
 * SIGMOD 2021): a failure is a seed, and a seed can be played again.
 */
public final class Simulation {
    /** The engine tells people of every loss; here nobody listens. Kept, so that the setting is. */
    private static final Logger ENGINE_LOG = Logger.getLogger("dev.holdfast");

    private final Counts counts = new Counts();
    private long played;
    private double seconds;

    /** Plays seeds from the first on, until one breaks a rule. */
    Schedule.@Nullable Outcome firstBreach(long firstSeed, long schedules) {
        return firstBreach(firstSeed, schedules, null);
    }

    /** The same, and hands out the timeline of each. */
    Schedule.@Nullable Outcome firstBreach(
            long firstSeed, long schedules, @Nullable Consumer<? super String> timelines) {
        long began = System.nanoTime();
        try {
            return quietly(() -> {
                for (long seed = firstSeed; seed < firstSeed + schedules; seed++) {
                    Schedule.Outcome outcome = Schedule.play(seed, timelines != null);
                    if (timelines != null) {
                        timelines.accept(outcome.timeline());
                    }
                    counts.addAll(outcome.counts());
                    played++;
                    if (outcome.verdict() != null) {
                        return outcome;
                    }
                }
                return null;
            });
        } finally {
            seconds = (System.nanoTime() - began) / 1e9;
        }
    }

    /** Plays one seed and tells what happened, line by line. */
    static String replay(long seed) {
        return quietly(() -> Schedule.play(seed, true)).timeline();
    }

    private static <T> T quietly(Supplier<T> play) {
        Level level = ENGINE_LOG.getLevel();
        ENGINE_LOG.setLevel(Level.OFF);
        try {
            return play.get();
        } finally {
            ENGINE_LOG.setLevel(level);
        }
    }

    Counts counts() {
        return counts;
    }

    String report() {
        return String.format(Locale.ROOT, "%,d schedules in %.1f s%n%s", played, seconds, counts);
    }

    /** What was broken, and how to see it happen. */
    static String explain(Schedule.Outcome breach) {
        Judge.Verdict verdict = breach.verdict();
        return "seed " + breach.seed() + " broke a rule: "
                + (verdict == null ? "none" : verdict.rule().text + ". Here: " + verdict.text())
                + "\nIts timeline: mvn -Dquick -pl core test -Dtest=SimulationTest#noScheduleBreaksARule"
                + " -Dholdfast.sim.schedules=1 -Dholdfast.sim.seed=" + breach.seed()
                + "\nand then core/target/quick/surefire-reports/dev.holdfast.sim.SimulationTest-output.txt";
    }

    /** For a changed engine, in a class loader of its own: the first breach as {@code SEED RULE: WHAT}, or nothing. */
    public static String search(long firstSeed, long schedules) {
        Schedule.Outcome breach = new Simulation().firstBreach(firstSeed, schedules);
        Judge.Verdict verdict = breach == null ? null : breach.verdict();
        return breach == null || verdict == null ? "" : breach.seed() + " " + verdict.rule() + ": " + verdict.text();
    }
}
