package dev.holdfast;

/**
 * The store cannot do what was asked; see {@link LockClient#capabilities()}. Thrown when the primitive is built, not when
 * it is used.
 */
public final class UnsupportedByStoreException extends HoldfastException {
    private static final long serialVersionUID = 1L;

    /** An error with a message. */
    public UnsupportedByStoreException(String message) {
        super(message);
    }
}
