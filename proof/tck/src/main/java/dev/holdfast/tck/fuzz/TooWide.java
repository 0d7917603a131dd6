package dev.holdfast.tck.fuzz;

/** So much is open that nothing can be judged. */
final class TooWide extends RuntimeException {
    private static final long serialVersionUID = 1L;
}
