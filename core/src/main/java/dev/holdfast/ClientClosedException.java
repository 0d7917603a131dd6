package dev.holdfast;

/** The {@link LockClient} was closed. */
public final class ClientClosedException extends HoldfastException {
    private static final long serialVersionUID = 1L;

    /** An error with a message. */
    public ClientClosedException(String message) {
        super(message);
    }
}
