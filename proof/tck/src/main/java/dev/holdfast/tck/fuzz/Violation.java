package dev.holdfast.tck.fuzz;

/** The store did what it must not do. */
final class Violation extends AssertionError {
    private static final long serialVersionUID = 1L;

    Violation(String message) {
        super(message);
    }
}
