package dev.holdfast;

/**
 * The actions of a candidate when its terms of leadership begin and end.
 *
 * <pre>{@code
 * Candidacy candidacy = client.election("reports").stand(new LeaderListener() {
 *     @Override
 *     public void onElected(Term term) {
 *         scheduler.start(term.token());
 *     }
 *
 *     @Override
 *     public void onRevoked(Term term) {
 *         scheduler.stop();
 *     }
 * });
 * }</pre>
 *
 * <p>The calls of one candidacy run one after another, not always on the same thread: {@code onRevoked} after the
 * {@code onElected} of its term, and before the {@code onElected} of the next. A term that ends before its
 * {@code onElected} began is reported by neither.
 *
 * <p>A method that hangs delays further calls to this listener, not the lock: {@link Candidacy#isLeader()} depends on
 * the hold alone. A term that is resigned is released after {@code onRevoked} has returned, so another candidate leads
 * only after this process has stopped its work. If {@code onRevoked} takes longer than the lease or 30 s, whichever is
 * shorter, the term is released before {@code onRevoked} returns.
 */
public interface LeaderListener {

    /**
     * A term has begun; {@link Candidacy#isLeader()} is true already, unless the term has ended again.
     *
     * @throws Exception to end the term: it is logged, {@link #onRevoked} follows, and the candidate goes to the end of
     *     the line after a pause of one second, twice as long after each failure in a row, up to a minute
     */
    void onElected(Term term) throws Exception;

    /**
     * A term has ended; {@link Candidacy#isLeader()} was false before.
     *
     * @param term the one that ended; {@link Term#loss()} says why, if it was lost
     * @throws Exception is logged and changes nothing
     */
    default void onRevoked(Term term) throws Exception {}
}
