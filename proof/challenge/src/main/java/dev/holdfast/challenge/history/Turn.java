package dev.holdfast.challenge.history;

import dev.holdfast.spi.Mode;
import dev.holdfast.tck.History.Ending;
import dev.holdfast.tck.History.Held;

/**
 * One use of a lock by one worker, which asks, holds, and leaves, or gives up; times are {@link System#nanoTime()}, 0 for what did not come to pass.
 *
 * @param worker a number of its own for each process
 * @param asked before the acquire
 * @param began after the acquire
 * @param lastValid before the last look that found the hold valid
 * @param leaving before the release
 * @param left after the release
 * @param ending how it ended; one without a hold is closed when it was given up, and unknown when the call failed
 * @param mode how the lock was held
 * @param token the fencing token, 0 where there is none
 * @param scope the period of a job, 0 elsewhere
 * @param read what the resource had when the hold began
 * @param wrote what the holder wrote to the resource, 0 for nothing
 * @param outcome what became of that write
 * @param stall for how many nanoseconds its process did not come to run meanwhile, at the longest or in many short gaps together
 */
public record Turn(
        int worker,
        long asked,
        long began,
        long lastValid,
        long leaving,
        long left,
        Ending ending,
        Mode mode,
        long token,
        long scope,
        long read,
        long wrote,
        Outcome outcome,
        long stall) {

    /** What became of a write. */
    public enum Outcome {
        /** Nothing was written. */
        NONE,
        /** The resource took it; or a job is recorded as done, although its lock was lost. */
        ACCEPTED,
        /** The resource refused it, for its token; or the holder knew that its hold was lost. */
        REFUSED
    }

    /** Whether the lock was held. */
    public boolean isHold() {
        return began != 0;
    }

    /** Whether it is under way and not granted. */
    public boolean isAsking() {
        return began == 0 && left == 0;
    }

    /** Whether the holder is at work. */
    public boolean isHolding() {
        return began != 0 && leaving == 0;
    }

    /** As the judge of the kit takes it. */
    public Held toHeld() {
        return new Held(
                "worker " + worker, mode, token, asked, began, Math.max(began, lastValid), leaving, left, ending);
    }
}
