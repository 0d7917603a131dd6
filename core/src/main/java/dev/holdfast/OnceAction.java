package dev.holdfast;

/**
 * The work that {@link Once} runs.
 *
 * <pre>{@code
 * once.run(turn -> reports.write(turn.token()));
 * }</pre>
 */
@FunctionalInterface
public interface OnceAction {

    /**
     * Does the work.
     *
     * @param turn the lock under which it runs, and the period
     * @throws NotBegunException if the work could not begin; its turn then counts as not taken
     * @throws Exception if the work failed
     */
    void run(OnceTurn turn) throws Exception;
}
