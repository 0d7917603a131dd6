package dev.holdfast.internal;

import dev.holdfast.spi.Mode;

/**
 * The name of a lock, checked once, and how it is wanted.
 *
 * @param name as the caller knows it
 * @param inStore as the store knows it, with the client's namespace before it
 * @param mode how it is to be held
 */
public record LockName(String name, String inStore, Mode mode) {
    /** The same name, wanted in another way. */
    public LockName as(Mode other) {
        return new LockName(name, inStore, other);
    }

    @Override
    public String toString() {
        return name;
    }
}
