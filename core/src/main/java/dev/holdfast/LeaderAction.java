package dev.holdfast;

/**
 * Work that is done during a term of leadership; see {@link LeaderElection#lead}.
 *
 * <pre>{@code
 * LeaderAction work = term -> reports.write(term.token());
 * }</pre>
 */
@FunctionalInterface
public interface LeaderAction {

    /**
     * Does the work.
     *
     * @param term the term it is done for
     * @throws Exception if it fails; {@link LeaderListener} says what follows
     */
    void run(Term term) throws Exception;
}
