package dev.holdfast.redis;

import dev.holdfast.LockStatus;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * What {@code status.lua} tells of a lock.
 *
 * @param kind the letter of the mode; F when it is free
 * @param leftMillis what is left of the lease
 * @param number the grant number of the one told of
 * @param last the last grant number of all
 * @param heldMicros since how long
 * @param waiting how many wait
 * @param owner the claim that holds it exclusively, or did; not told of readers and permits
 * @param who who holds
 */
record StatusReply(
        String kind,
        long leftMillis,
        long number,
        String last,
        long heldMicros,
        int waiting,
        String owner,
        String who) {
    private static final int TOKENS_PER_NUMBER = 1024;
    private static final int PARTS = 9;

    static StatusReply parse(String text) {
        String[] parts = text.split(" ", PARTS);
        return new StatusReply(
                parts[0],
                Long.parseLong(parts[1]),
                Long.parseLong(parts[2]),
                parts[3],
                Long.parseLong(parts[5]) - Long.parseLong(parts[4]),
                Integer.parseInt(parts[6]),
                parts[7],
                parts[8]);
    }

    boolean isHeld() {
        return !kind.equals("F");
    }

    LockStatus status(String name) {
        return status(name, leftMillis, waiting);
    }

    /** The same, with what several servers say of its lease and of those that wait. */
    LockStatus status(String name, long left, int allWaiting) {
        if (!isHeld()) {
            return LockStatus.free(name, allWaiting);
        }
        return new LockStatus(
                name,
                Optional.of(new LockStatus.Held(
                        ModeCodec.kind(kind),
                        number * TOKENS_PER_NUMBER,
                        HolderText.read(who),
                        Duration.of(Math.max(0, heldMicros), ChronoUnit.MICROS),
                        Duration.ofMillis(left))),
                allWaiting);
    }
}
