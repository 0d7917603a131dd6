package dev.holdfast.flashsale.scene;

/**
 * What an actor did, and when.
 *
 * @param lane where the page draws it
 * @param kind what it was; the page has the words for it
 * @param from milliseconds by the clock of this machine, which all servers share
 * @param to the same; not before {@code from}
 * @param value what was read or written, or who did it
 */
public record Span(String lane, String kind, long from, long to, String value) {
    /** The value that a cache without an entry has. */
    public static final String NOTHING = "–";

    static long now() {
        return System.currentTimeMillis();
    }

    /** What ends now. */
    static Span since(long from, String lane, String kind, Object value) {
        return new Span(lane, kind, from, now(), value.toString());
    }
}
