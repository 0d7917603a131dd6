package dev.holdfast.sim;

import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.internal.EngineDoor;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a store must be, as plainly as it can be said: per name the claims that hold it until a moment, none in conflict
 * with another, and numbers that rise. It is told every answer the store gives, in order, and speaks up where one could
 * not be right. The judge asks it who really has a name.
 */
final class Ledger {
    /** One who has a name. */
    private record Entry(ClaimId id, Mode mode, long number, long expiresAt, boolean isBroken) {
        Entry until(long moment) {
            return new Entry(id, mode, number, moment, isBroken);
        }

        Entry as(Mode other) {
            return new Entry(id, other, number, expiresAt, isBroken);
        }

        boolean isOf(ClaimId claim) {
            return id.equals(claim) && !isBroken;
        }
    }

    private final Judge judge;
    private final Clock clock;
    private final Map<String, Map<ClaimId, Entry>> entries = new TreeMap<>();
    private final Map<String, Long> numbers = new TreeMap<>();
    /**
     * Those who may believe in what they have not, as the documentation says: their locks were broken at once, the server
     * has forgotten them, or its clock was set forward.
     */
    private final Set<ClaimId> broken = new HashSet<>();

    Ledger(Judge judge, Clock clock) {
        this.judge = judge;
        this.clock = clock;
    }

    /** Whether nobody may hold in one of these ways beside one who holds in the other. */
    static boolean conflict(Mode one, Mode other) {
        if (one instanceof Mode.Permits some && other instanceof Mode.Permits more) {
            return some.permits() + more.permits() > Math.min(some.of(), more.of());
        }
        return one.kind() != other.kind() || one.kind() == LockMode.EXCLUSIVE;
    }

    /** How many permits of a semaphore this is. */
    static int permits(Mode mode) {
        return mode instanceof Mode.Permits some ? some.permits() : 0;
    }

    /** Whether this claim has it now. */
    boolean has(String name, ClaimId id) {
        return live(name).containsKey(id);
    }

    /** Those who have it now. */
    List<ClaimId> holders(String name) {
        return List.copyOf(live(name).keySet());
    }

    boolean wasBroken(ClaimId id) {
        return broken.contains(id);
    }

    /** The store knows nothing any more, but for numbers that rise. */
    void forget(boolean tooSoon) {
        if (tooSoon) {
            endangerAll();
        }
        entries.clear();
    }

    /** All who have something now lose it before their leases have ended. */
    void endangerAll() {
        names().forEach(name -> broken.addAll(live(name).keySet()));
    }

    boolean isHeld(String name) {
        return !live(name).isEmpty();
    }

    void granted(Claim claim, long number) {
        String name = claim.name();
        Map<ClaimId, Entry> live = live(name);
        Entry before = live.get(claim.id());
        boolean again = before != null && before.number == number;
        Mode mode = again ? before.mode : claim.mode(); // it may have become a reader's
        checkAlone(claim, mode, live);
        if (!again) {
            raise(name, number);
        }
        long expiry = expiry(claim.lease());
        long until = again && before.expiresAt - expiry > 0 ? before.expiresAt : expiry;
        live.put(claim.id(), new Entry(claim.id(), mode, number, until, false));
    }

    private void checkAlone(Claim claim, Mode mode, Map<ClaimId, Entry> live) {
        int out = permits(mode);
        for (Entry entry : live.values()) {
            if (entry.isOf(claim.id())) {
                continue;
            }
            out += permits(entry.mode);
            if (conflict(entry.mode, mode) || isOver(out, mode)) {
                judge.broken(
                        Rule.GRANTS,
                        "granted " + claim.name() + " " + mode + " to " + Ids.of(claim.id()) + " while "
                                + Ids.of(entry.id) + (entry.isBroken ? ", broken," : "") + " has it " + entry.mode);
            }
        }
    }

    /** Whether a claim cannot be granted beside those who have its name. */
    boolean isInTheWay(Claim claim) {
        int out = permits(claim.mode());
        for (Entry entry : live(claim.name()).values()) {
            out += permits(entry.mode);
            if (conflict(entry.mode, claim.mode()) || isOver(out, claim.mode())) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOver(int out, Mode mode) {
        return mode instanceof Mode.Permits some && out > some.of();
    }

    void renewed(Grant grant, boolean held) {
        String name = grant.name();
        Entry entry = live(name).get(grant.id());
        boolean own = entry != null && entry.isOf(grant.id()) && entry.number == grant.number();
        if (held != own) {
            judge.broken(
                    Rule.RENEWAL,
                    "the renewal of " + name + " by " + Ids.of(grant.id()) + " was answered " + (held ? "HELD" : "LOST")
                            + " while " + shown(name) + " has it");
        }
        if (held && entry != null) {
            live(name).put(grant.id(), entry.until(expiry(grant.lease())));
        }
    }

    void renumbered(Grant grant, long number) {
        renewed(grant, true);
        raise(grant.name(), number);
        Entry entry = live(grant.name()).get(grant.id());
        if (entry != null) {
            live(grant.name()).put(grant.id(), new Entry(grant.id(), entry.mode, number, entry.expiresAt, false));
        }
    }

    /** An exclusive grant became a reader's, or not. */
    void loosened(Grant grant, boolean done) {
        Entry entry = live(grant.name()).get(grant.id());
        boolean own = entry != null && entry.isOf(grant.id()) && entry.number == grant.number();
        if (done != own) {
            judge.broken(
                    Rule.RELEASE,
                    "the downgrade of " + grant.name() + " by " + Ids.of(grant.id()) + " was answered " + done
                            + " while " + shown(grant.name()) + " has it");
        }
        if (done && entry != null) {
            live(grant.name()).put(grant.id(), entry.as(Mode.SHARED));
        }
    }

    void released(String name, ClaimId id, boolean held) {
        Entry entry = live(name).get(id);
        boolean own = entry != null && entry.isOf(id);
        if (held != own) {
            judge.broken(
                    Rule.RELEASE,
                    "the release of " + name + " by " + Ids.of(id) + " was answered " + held + " while " + shown(name)
                            + " has it");
        }
        if (own) {
            live(name).remove(id);
        }
    }

    /** Whatever the claim had is gone. */
    void withdrawn(String name, ClaimId id) {
        live(name).values().removeIf(entry -> entry.isOf(id));
    }

    /**
     * The grant of a number is broken.
     *
     * @param asked whether a caller broke it, who was warned; nobody else may
     * @return whose it was
     */
    List<ClaimId> broken(String name, long number, boolean now, boolean asked) {
        Map<ClaimId, Entry> live = live(name);
        List<ClaimId> shown = live.values().stream()
                .filter(entry -> entry.number == number)
                .map(Entry::id)
                .toList();
        for (ClaimId id : shown) {
            if (!now) {
                live.computeIfPresent(id, (same, entry) -> new Entry(id, entry.mode, number, entry.expiresAt, true));
                continue;
            }
            live.remove(id);
            if (asked) {
                broken.add(id);
            }
        }
        return shown;
    }

    /** Compares with what the store says of a name: whether it is held, by which grant, for how long, and who waits. */
    void compare(LockStatus said, int waiting) {
        String name = said.name();
        if (isHeld(name) != said.isHeld()) {
            judge.broken(
                    Rule.RELEASE,
                    "the store says " + name + " is " + (said.isHeld() ? "held" : "free") + ", but " + shown(name)
                            + " should have it");
        } else if (said.waiting() != waiting
                || !said.grant().map(held -> isSo(name, held)).orElse(true)) {
            judge.broken(Rule.EXACT, "the store says " + said + ", but " + waiting + " wait, and it has " + this);
        }
    }

    private boolean isSo(String name, LockStatus.Held said) {
        return live(name).values().stream()
                .anyMatch(entry -> entry.number == EngineDoor.number(said.token())
                        && entry.mode.kind() == said.mode()
                        && entry.expiresAt - clock.nanoTime()
                                == said.leaseLeft().toNanos());
    }

    /** All names that somebody has had. */
    List<String> known() {
        return List.copyOf(entries.keySet());
    }

    /** The names that somebody has. */
    List<String> names() {
        return entries.keySet().stream().filter(this::isHeld).toList();
    }

    @Override
    public String toString() {
        StringBuilder held = new StringBuilder();
        names().forEach(name -> held.append(name).append(live(name).values()));
        return held.toString();
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

    /** Who has a name, for people. */
    String shown(String name) {
        List<String> holders = new ArrayList<>();
        live(name).keySet().forEach(id -> holders.add(Ids.of(id)));
        return holders.isEmpty() ? "nobody" : String.join(" and ", holders);
    }

    private Map<ClaimId, Entry> live(String name) {
        Map<ClaimId, Entry> holders = entries.computeIfAbsent(name, none -> new LinkedHashMap<>());
        holders.values().removeIf(entry -> clock.nanoTime() - entry.expiresAt >= 0);
        return holders;
    }
}
