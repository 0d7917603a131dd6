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
 * @param who who holds
 */
record StatusReply(String kind, long leftMillis, long number, String last, long heldMicros, int waiting, String who) {
    private static final int TOKENS_PER_NUMBER = 1024;
    private static final int PARTS = 8;

    static StatusReply parse(String text) {
        String[] parts = text.split(" ", PARTS);
        return new StatusReply(
                parts[0],
                Long.parseLong(parts[1]),
                Long.parseLong(parts[2]),
                parts[3],
                Long.parseLong(parts[5]) - Long.parseLong(parts[4]),
                Integer.parseInt(parts[6]),
                parts[7]);
    }

    LockStatus status(String name) {
        if (kind.equals("F")) {
            return LockStatus.free(name, waiting);
        }
        return new LockStatus(
                name,
                Optional.of(new LockStatus.Held(
                        ModeCodec.kind(kind),
                        number * TOKENS_PER_NUMBER,
                        HolderText.read(who),
                        Duration.of(Math.max(0, heldMicros), ChronoUnit.MICROS),
                        Duration.ofMillis(leftMillis))),
                waiting);
    }
}
