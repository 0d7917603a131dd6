package dev.holdfast.redis;

import dev.holdfast.LockStatus;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * The report of {@code status.lua} on a lock.
 *
 * @param kind the letter of the mode; F when it is free
 * @param leftMillis the rest of the lease
 * @param number the grant number of the reported holder
 * @param heldMicros how long it has been held
 * @param waiting how many claims wait
 * @param owner the claim that holds it exclusively, or did; not reported for readers and permits
 * @param holder the text of the holder
 */
record StatusReply(
        String kind, long leftMillis, long number, long heldMicros, int waiting, String owner, String holder) {
    private static final int TOKENS_PER_NUMBER = 1024;
    private static final int PARTS = 8;

    static StatusReply parse(String text) {
        String[] parts = text.split(" ", PARTS);
        return new StatusReply(
                parts[0],
                Long.parseLong(parts[1]),
                Long.parseLong(parts[2]),
                Long.parseLong(parts[4]) - Long.parseLong(parts[3]),
                Integer.parseInt(parts[5]),
                parts[6],
                parts[7]);
    }

    boolean isHeld() {
        return !kind.equals("F");
    }

    LockStatus status(String name) {
        return status(name, leftMillis, waiting);
    }

    /** The same, with the lease and the number of waiters that several servers report. */
    LockStatus status(String name, long left, int allWaiting) {
        if (!isHeld()) {
            return LockStatus.free(name, allWaiting);
        }
        return new LockStatus(
                name,
                Optional.of(new LockStatus.Held(
                        ModeCodec.kind(kind),
                        number * TOKENS_PER_NUMBER,
                        HolderText.read(holder),
                        Duration.of(Math.max(0, heldMicros), ChronoUnit.MICROS),
                        Duration.ofMillis(left))),
                allWaiting);
    }
}
