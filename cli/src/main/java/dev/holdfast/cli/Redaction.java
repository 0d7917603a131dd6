package dev.holdfast.cli;

import dev.holdfast.spi.Redacted;

/** Takes the password of the environment out of text that people will see, should a driver have put it there. */
final class Redaction {
    private static final int SHORTEST_SECRET = 4;

    private Redaction() {}

    /** A text on one line, without that password and whatever else {@link Redacted} takes out. */
    static String oneLine(String text) {
        return oneLine(text, System.getenv().getOrDefault(StoreUrl.PASSWORD_VARIABLE, ""));
    }

    static String oneLine(String text, String password) {
        // One of a letter or two is a part of every message; nobody is helped when those are cut to pieces.
        return Redacted.text(password.length() < SHORTEST_SECRET ? text : text.replace(password, "***"));
    }
}
