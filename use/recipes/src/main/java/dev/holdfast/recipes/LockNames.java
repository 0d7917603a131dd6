package dev.holdfast.recipes;

/** The names of a recipe's locks. */
final class LockNames {
    private LockNames() {}

    /**
     * {@code name/key}. A slash of the name itself has a backslash before it, and so has a backslash: two pairs never share
     * a lock.
     */
    static String of(String name, Object key) {
        return name.replace("\\", "\\\\").replace("/", "\\/") + "/" + key;
    }
}
