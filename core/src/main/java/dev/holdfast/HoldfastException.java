package dev.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * The superclass of Holdfast's own exceptions. Unchecked. Messages are one line, name the lock and the store, say what
 * to do next, and hold no secret.
 *
 * <pre>{@code
 * try (Hold hold = lock.acquire()) {
 *     orders.charge(42, hold.token());
 * } catch (HoldLostException lost) {               // at the close: check what was written under lost.loss().token()
 * } catch (StoreUnavailableException away) {       // from acquire: nothing is held; try again later
 * }
 * }</pre>
 */
public class HoldfastException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** An error with a message. */
    public HoldfastException(String message) {
        super(message);
    }

    /** An error with a message and what caused it. */
    public HoldfastException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
