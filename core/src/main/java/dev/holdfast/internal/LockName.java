package dev.holdfast.internal;

import dev.holdfast.spi.Mode;
import java.util.Comparator;
import java.util.List;

/**
 * The name of a lock, checked once, and how it is wanted.
 *
 * @param name as the caller knows it
 * @param inStore as the store knows it, with the client's namespace before it
 * @param mode how it is to be held
 */
public record LockName(String name, String inStore, Mode mode) {
    /** Names in the order in which every caller that wants several locks them. */
    public static List<LockName> inOrder(List<LockName> names) {
        return names.stream().sorted(Comparator.comparing(LockName::inStore)).toList();
    }

    /** The same name, wanted in another way. */
    public LockName as(Mode other) {
        return new LockName(name, inStore, other);
    }

    @Override
    public String toString() {
        return name;
    }
}
