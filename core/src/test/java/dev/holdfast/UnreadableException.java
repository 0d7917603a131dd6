package dev.holdfast;

/** An application's exception that fails where its text is read. */
final class UnreadableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
        throw new IllegalStateException("no message");
    }
}
