package dev.holdfast.sim;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a store must be, as plainly as it can be said: per name at most one claim that holds it until a moment, and
 * numbers that rise. It is told every answer the store gives, in order, and speaks up where one could not be right. The
 * judge asks it who really has a name.
 */
final class Ledger {
    /** The one who has a name. */
    private record Entry(ClaimId id, long number, long expiresAt, boolean revoked) {}

    private final Judge judge;
    private final Clock clock;
    private final Map<String, Entry> entries = new TreeMap<>();
    private final Map<String, Long> numbers = new TreeMap<>();
    /** Whose lock was broken at once: they may believe in it still, as the documentation says. */
    private final Set<ClaimId> broken = new HashSet<>();

    Ledger(Judge judge, Clock clock) {
        this.judge = judge;
        this.clock = clock;
    }

    /** Who has it now; null if nobody does. */
    @Nullable
    ClaimId holder(String name) {
        Entry entry = live(name);
        return entry == null ? null : entry.id;
    }

    boolean wasBroken(ClaimId id) {
        return broken.contains(id);
    }

    boolean isHeld(String name) {
        return live(name) != null;
    }

    void granted(String name, ClaimId id, Duration lease, long number) {
        Entry entry = live(name);
        if (entry != null && !(entry.id.equals(id) && !entry.revoked)) {
            judge.broken(
                    Rule.GRANTS,
                    "granted " + name + " to " + Ids.of(id) + " while " + Ids.of(entry.id)
                            + (entry.revoked ? ", revoked," : "") + " has it");
        }
        boolean again = entry != null && entry.number == number;
        if (!again) {
            raise(name, number);
        }
        long expiry = expiry(lease);
        entries.put(
                name, new Entry(id, number, again && entry.expiresAt - expiry > 0 ? entry.expiresAt : expiry, false));
    }

    void renewed(Grant grant, boolean held) {
        String name = grant.name();
        ClaimId id = grant.id();
        Entry entry = live(name);
        boolean own = entry != null && entry.id.equals(id) && entry.number == grant.number() && !entry.revoked;
        if (held != own) {
            judge.broken(
                    Rule.RENEWAL,
                    "the renewal of " + name + " by " + Ids.of(id) + " was answered "
                            + (held ? "HELD" : "LOST") + " while "
                            + (entry == null ? "nobody" : Ids.of(entry.id)) + " has it");
        }
        if (held) {
            entries.put(name, new Entry(id, entry.number, expiry(grant.lease()), false));
        }
    }

    void renumbered(Grant grant, long number) {
        renewed(grant, true);
        raise(grant.name(), number);
        entries.put(grant.name(), new Entry(grant.id(), number, expiry(grant.lease()), false));
    }

    void released(String name, ClaimId id, boolean held) {
        Entry entry = live(name);
        boolean own = entry != null && entry.id.equals(id) && !entry.revoked;
        if (held != own) {
            judge.broken(
                    Rule.RELEASE,
                    "the release of " + name + " by " + Ids.of(id) + " was answered " + held + " while "
                            + (entry == null ? "nobody" : Ids.of(entry.id)) + " has it");
        }
        if (own) {
            entries.remove(name);
        }
    }

    /** Whatever the claim had is gone. */
    void withdrawn(String name, ClaimId id) {
        Entry entry = live(name);
        if (entry != null && entry.id.equals(id) && !entry.revoked) {
            entries.remove(name);
        }
    }

    /**
     * @param asked whether a caller broke it, who was warned; nobody else may
     */
    void revoked(String name, boolean now, boolean asked) {
        Entry entry = live(name);
        if (entry == null) {
            return;
        }
        if (now) {
            entries.remove(name);
            if (asked) {
                broken.add(entry.id);
            }
        } else {
            entries.put(name, new Entry(entry.id, entry.number, entry.expiresAt, true));
        }
    }

    /** Compares with what the store says of itself. */
    void compare(String name, boolean heldInStore) {
        if (isHeld(name) != heldInStore) {
            Entry entry = live(name);
            judge.broken(
                    Rule.RELEASE,
                    "the store says " + name + " is " + (heldInStore ? "held" : "free") + ", but "
                            + (entry == null ? "nobody" : Ids.of(entry.id)) + " should have it");
        }
    }

    private void raise(String name, long number) {
        Long last = numbers.put(name, number);
        if (last != null && number <= last) {
            judge.broken(Rule.GRANTS, "number " + number + " of " + name + " came after " + last);
        }
    }

    private long expiry(Duration lease) {
        return clock.nanoTime() + lease.toNanos();
    }

    private @Nullable Entry live(String name) {
        Entry entry = entries.get(name);
        return entry != null && clock.nanoTime() - entry.expiresAt < 0 ? entry : null;
    }
}
