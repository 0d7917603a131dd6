package dev.holdfast.tck;

import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;

/** Modes as a word: {@code write}, {@code read}, {@code 2/3} for two of three permits. */
public final class Modes {
    private Modes() {}

    /** The word of a mode. */
    public static String write(Mode mode) {
        if (mode instanceof Permits some) {
            return some.permits() + "/" + some.of();
        }
        return mode instanceof Mode.Shared ? "read" : "write";
    }

    /** The mode of a word. */
    public static Mode read(String word) {
        int slash = word.indexOf('/');
        if (slash > 0) {
            return new Permits(Integer.parseInt(word.substring(0, slash)), Integer.parseInt(word.substring(slash + 1)));
        }
        return switch (word) {
            case "write" -> Mode.EXCLUSIVE;
            case "read" -> Mode.SHARED;
            default -> throw new IllegalArgumentException("no mode: " + word);
        };
    }
}
