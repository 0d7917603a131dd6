package dev.holdfast.testbed;

import java.nio.file.Path;
import java.util.List;

/**
 * Where a {@link ServerProcess} lives: what its command line is made of. Immutable.
 *
 * @param folder its private folder, removed when the server is closed
 * @param ports its private ports, at least one; the same over restarts
 */
public record ServerHome(Path folder, List<Integer> ports) {
    /** Copies the list. */
    public ServerHome {
        ports = List.copyOf(ports);
    }

    /** The first port. */
    public int port() {
        return port(0);
    }

    /** The port of that index, from 0. */
    public int port(int index) {
        return ports.get(index);
    }
}
