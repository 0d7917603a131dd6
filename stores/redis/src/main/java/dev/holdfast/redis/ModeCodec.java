package dev.holdfast.redis;

import dev.holdfast.LockMode;
import dev.holdfast.spi.Mode;

/** Modes as the scripts know them. */
final class ModeCodec {
    private ModeCodec() {}

    /** X, S or P. */
    static String kind(Mode mode) {
        return switch (mode.kind()) {
            case EXCLUSIVE -> "X";
            case SHARED -> "S";
            case PERMITS -> "P";
        };
    }

    /** How many permits it takes. */
    static String wanted(Mode mode) {
        return mode instanceof Mode.Permits some ? Integer.toString(some.permits()) : "1";
    }

    /** How many permits there are. */
    static String of(Mode mode) {
        return mode instanceof Mode.Permits some ? Integer.toString(some.of()) : "1";
    }

    /** The kind for a letter; exclusive for a broken lock, which keeps no letter. */
    static LockMode kind(String letter) {
        return switch (letter) {
            case "S" -> LockMode.SHARED;
            case "P" -> LockMode.PERMITS;
            default -> LockMode.EXCLUSIVE;
        };
    }
}
