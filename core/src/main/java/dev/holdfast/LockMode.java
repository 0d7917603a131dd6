package dev.holdfast;

/**
 * How a lock is held, and so which other holds it conflicts with.
 *
 * <pre>{@code
 * lock.status().grant().filter(held -> held.mode() == LockMode.SHARED).ifPresent(held -> System.out.println("readers"));
 * }</pre>
 */
public enum LockMode {
    /** Alone: conflicts with every other hold of the name. */
    EXCLUSIVE,
    /** Together with other readers: conflicts with exclusive holds. */
    SHARED,
    /** Some of the permits of a semaphore: conflicts once all are taken. */
    PERMITS
}
