package dev.holdfast.jdbc;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What one session has: at most one lock of each name. For one thread. */
final class HeldLocks {
    private final Map<ClaimId, Held> byClaim = new LinkedHashMap<>();
    private final Set<String> names = new HashSet<>();

    /**
     * A lock of the server that the session has, for a grant.
     *
     * @param grant for which
     * @param number of the server's lock
     * @param released whether its row says so already
     */
    record Held(Grant grant, int number, boolean released) {
        Held asReleased() {
            return new Held(grant, number, true);
        }
    }

    void put(Held held) {
        byClaim.put(held.grant().id(), held);
        names.add(held.grant().name());
    }

    @Nullable
    Held get(ClaimId id) {
        return byClaim.get(id);
    }

    boolean has(String name) {
        return names.contains(name);
    }

    void remove(ClaimId id) {
        Held held = byClaim.remove(id);
        if (held != null) {
            names.remove(held.grant().name());
        }
    }

    int size() {
        return byClaim.size();
    }

    boolean isEmpty() {
        return byClaim.isEmpty();
    }

    List<ClaimId> ids() {
        return List.copyOf(byClaim.keySet());
    }

    /** Forgets all; what there was. */
    List<Grant> clear() {
        List<Grant> gone = byClaim.values().stream().map(Held::grant).toList();
        byClaim.clear();
        names.clear();
        return gone;
    }
}
