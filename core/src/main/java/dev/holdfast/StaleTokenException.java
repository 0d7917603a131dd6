package dev.holdfast;

/**
 * A fence saw a token lower than one it had already admitted: the work belongs to a hold that a later one has
 * overtaken, and was not done.
 */
public final class StaleTokenException extends HoldfastException {
    private static final long serialVersionUID = 1L;
    private final long token;
    private final long admitted;

    /**
     * A token that came too late.
     *
     * @param resource what is fenced, for the message
     * @param token the token that was refused
     * @param admitted the highest token admitted so far
     */
    public StaleTokenException(String resource, long token, long admitted) {
        super("'" + resource + "' refused token " + token + ": a later hold with token " + admitted
                + " was here; stop this work, its lock was lost");
        this.token = token;
        this.admitted = admitted;
    }

    /** The token that was refused. */
    public long token() {
        return token;
    }

    /** The highest token admitted so far. */
    public long admitted() {
        return admitted;
    }
}
