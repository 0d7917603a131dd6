package dev.holdfast;

/**
 * Thrown by work of {@link Once} that could not begin after all, for example because its process is being stopped: its turn
 * then counts as not taken. What was recorded before is recorded again, and {@link Once#run} throws the exception on.
 *
 * <pre>{@code
 * once.run(turn -> {
 *     if (isStopping()) {
 *         throw new NotBegunException("this server is being stopped");
 *     }
 *     reports.write(turn.token());
 * });
 * }</pre>
 */
public final class NotBegunException extends HoldfastException {
    private static final long serialVersionUID = 1L;

    /** An error with a message. */
    public NotBegunException(String message) {
        super(message);
    }
}
