package dev.holdfast.spi;

/**
 * The answer of a store to the renewal of a grant.
 *
 * @param verdict what became of the grant
 * @param sentNanos {@link TimeSource#nanoTime()} read before the request was sent: with {@link Verdict#HELD}, the lease
 *     counts again from here
 * @param contended whether other clients wait for one of the names
 */
public record Renewal(Verdict verdict, long sentNanos, boolean contended) {

    /** The three answers; "unknown" is neither yes nor no. */
    public enum Verdict {
        /** The store itself moved the lease. */
        HELD,
        /** The grant no longer exists, or had run out: it is never revived. */
        LOST,
        /** No answer: the grant may or may not have been renewed. The deadline stays where it is. */
        UNKNOWN
    }

    /** The answer for a grant whose lease was moved by a request sent at {@code sentNanos}. */
    public static Renewal held(long sentNanos, boolean contended) {
        return new Renewal(Verdict.HELD, sentNanos, contended);
    }

    /** The answer for a grant that is gone. */
    public static Renewal lost(long sentNanos) {
        return new Renewal(Verdict.LOST, sentNanos, false);
    }

    /** The answer when there was none. */
    public static Renewal unknown(long sentNanos) {
        return new Renewal(Verdict.UNKNOWN, sentNanos, false);
    }
}
