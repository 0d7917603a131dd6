package dev.holdfast;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The open candidacies of a client, one for a name; also what keeps them from the garbage collector. Thread-safe. */
final class Candidacies implements AutoCloseable {
    private final ConcurrentMap<String, Candidacy> byName = new ConcurrentHashMap<>();

    /** Adds one. */
    void add(String name, Candidacy candidacy) {
        if (byName.putIfAbsent(name, candidacy) != null) {
            throw new IllegalStateException("this client stands for '" + name
                    + "' already: close that candidacy first, or stand with a client of its own");
        }
    }

    void remove(String name, Candidacy candidacy) {
        byName.remove(name, candidacy);
    }

    /** Closes all, each as {@link Candidacy#close()} does. */
    @Override
    public void close() {
        List.copyOf(byName.values()).forEach(Candidacy::close);
    }
}
