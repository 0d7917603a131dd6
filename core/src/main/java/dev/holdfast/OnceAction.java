package dev.holdfast;

/**
 * What {@link Once} runs.
 *
 * <pre>{@code
 * once.run(turn -> reports.write(turn.token()));
 * }</pre>
 */
@FunctionalInterface
public interface OnceAction {

    /**
     * Does it.
     *
     * @param turn the lock under which it runs, and what it runs for
     * @throws Exception if the work failed
     */
    void run(OnceTurn turn) throws Exception;
}
