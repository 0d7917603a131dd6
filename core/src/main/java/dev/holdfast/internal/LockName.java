package dev.holdfast.internal;

/**
 * The name of a lock, checked once.
 *
 * @param name as the caller knows it
 * @param inStore as the store knows it, with the client's namespace before it
 */
public record LockName(String name, String inStore) {
    @Override
    public String toString() {
        return name;
    }
}
