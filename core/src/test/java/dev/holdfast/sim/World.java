package dev.holdfast.sim;

import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;

/**
 * True time, and everything that is still to happen in it.
 *
 * <p>One thread takes the earliest event, moves the time there and runs it; what runs takes no time. Two events of the
 * same nanosecond run in the order they were planned, so that nothing but the seed decides. An event belongs to whoever
 * runs it: while that one stands still its events wait, and when it is dead they never happen.
 *
 * <p>A caller that blocks runs the world on from inside its call until what it waits for is there: to everybody else it
 * is a thread that sleeps.
 */
final class World {
    /** Whose code an event runs. */
    interface Owner {
        /** When its code can run next: now, later, or {@link #NEVER}. */
        long runsAt(long now);
    }

    static final long NEVER = Long.MAX_VALUE;
    static final Owner NATURE = now -> now;

    private static final int DEEPEST = 3;
    private static final int MOST_EVENTS = 200_000;

    private record Event(long at, long order, Owner owner, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    /** A caller that blocks on a machine that dies: its stack ends here. */
    static final class Died extends Error {
        Died() {
            super("the process died", null, false, false);
        }
    }

    final Dice dice;
    final Timeline timeline;
    final Counts counts = new Counts();
    final Judge judge;
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long now;
    private long planned;
    private int ran;
    private int depth;

    World(long seed, boolean traced) {
        dice = new Dice(seed);
        timeline = traced ? Timeline.kept(this) : Timeline.none(this);
        judge = new Judge(this);
    }

    long now() {
        return now;
    }

    void at(long when, Owner owner, Runnable action) {
        events.add(new Event(Math.max(when, now), planned++, owner, action));
    }

    void after(long nanos, Owner owner, Runnable action) {
        at(now + nanos, owner, action);
    }

    /** Whether one more caller may block: stacks stay small. */
    boolean mayBlock() {
        return depth < DEEPEST;
    }

    /** Blocks a caller of this owner until the condition holds. */
    void block(Owner caller, BooleanSupplier until) {
        depth++;
        try {
            while (!until.getAsBoolean()) {
                stepFor(caller);
            }
        } finally {
            depth--;
        }
    }

    /** Lets a caller of this owner sleep until something has happened. */
    void pass(Owner caller) {
        depth++;
        try {
            stepFor(caller);
        } finally {
            depth--;
        }
    }

    private void stepFor(Owner caller) {
        if (caller.runsAt(now) == NEVER || !step(NEVER)) {
            throw new Died();
        }
    }

    /** Whether nobody blocks: only then may one block until another gives something back. */
    boolean isNobodyBlocked() {
        return depth == 0;
    }

    /** Runs until that time, or until nothing is left to happen or a rule was broken. */
    void runUntil(long end) {
        while (step(end)) {
            // on
        }
        if (!judge.hasSpoken()) {
            now = Math.max(now, end == NEVER ? now : end);
        }
    }

    boolean isEmpty() {
        return events.isEmpty();
    }

    private boolean step(long end) {
        Event next = events.peek();
        if (next == null || next.at > end || judge.hasSpoken()) {
            return false;
        }
        events.remove();
        now = next.at;
        long runs = next.owner.runsAt(now);
        if (runs == NEVER) {
            return true;
        }
        if (runs > now) {
            at(runs, next.owner, next.action);
            return true;
        }
        if (++ran > MOST_EVENTS) {
            judge.broken(Rule.LIVENESS, "the schedule does not come to an end");
        }
        run(next.action);
        return true;
    }

    private void run(Runnable action) {
        try {
            action.run();
        } catch (Died died) {
            timeline.note("world", () -> "a blocked caller died with its process");
        } catch (RuntimeException | Error thrown) {
            judge.broken(Rule.NO_SURPRISE, "thrown: " + thrown + " at " + thrown.getStackTrace()[0]);
        }
        judge.look();
    }
}
