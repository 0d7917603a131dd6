package dev.holdfast;

/**
 * The work of {@link Once} throws this exception if it cannot begin, for example because its process is being stopped.
 * The turn then counts as not taken: the earlier record is restored, and {@link Once#run} rethrows the exception. If that
 * {@code run} was called by other work of a {@code Once}, the work around it has begun: it counts as failed, unless it
 * catches the exception. Create a new exception each time: one object returns one turn.
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

    /** Only the innermost turn is returned: the turn around it has begun its work. */
    private transient boolean isSettled;

    /** An error with a message. */
    public NotBegunException(String message) {
        super(message);
    }

    /** Whether no turn has been returned for this exception yet; the first call counts as the return of one. */
    boolean settle() {
        boolean first = !isSettled;
        isSettled = true;
        return first;
    }
}
