package dev.holdfast.sim;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Judges how long things take once the faults have ended. A name that nobody holds, or that all who wait can hold beside
 * those who do, is granted to one of them within five leases. A claim or grant that no caller wants any more is gone
 * from the store within one.
 */
final class Delays {
    private static final int MOST_LEASES = 5;
    /** A release may take longer than its client waits for the answer, and crosses a repeated claim on its way. */
    private static final long ON_THE_WAY = 100_000_000;
    /** After these a claim may have another place than at first. */
    private static final Set<Happening> OUT_OF_ORDER = EnumSet.of(
            Happening.PARTITIONED,
            Happening.SERVER_RESTARTED,
            Happening.MACHINE_SLEPT,
            Happening.PLACE_RAN_OUT,
            Happening.OFFER_PASSED_ON);

    /**
     * A claim that an engine has sent.
     *
     * @param lease the longest that it has asked for under this id
     * @param givenBack whether it was released: a copy that comes later takes a place in the queue for a lease, and may
     *     have an offer then
     */
    private record Asked(Client client, Claim claim, long lease, boolean givenBack) {
        Asked orLonger(long other) {
            return other > lease ? new Asked(client, claim, other, givenBack) : this;
        }

        Asked back() {
            return new Asked(client, claim, lease, true);
        }

        long bound() {
            return (lease + lease / 100 + ON_THE_WAY) * (givenBack ? 2 : 1);
        }
    }

    private final World world;
    private final Setting setting;
    private final Server server;
    private final List<Machine> machines;
    private final List<Held> open;
    private final List<Wish> waiting = new ArrayList<>();
    private final Map<ClaimId, Asked> asked = new HashMap<>();
    private final Map<String, Long> stuckSince = new HashMap<>();
    private final Map<ClaimId, Long> unwantedSince = new HashMap<>();

    Delays(World world, Setting setting, Server server, List<Machine> machines, List<Held> open) {
        this.world = world;
        this.setting = setting;
        this.server = server;
        this.machines = machines;
        this.open = open;
    }

    void asks(Wish wish) {
        waiting.add(wish);
    }

    void granted(String name) {
        stuckSince.remove(name);
    }

    void claims(Client client, Claim claim) {
        asked.put(claim.id(), new Asked(client, claim, claim.lease().toNanos(), false));
    }

    void renews(Grant grant) {
        asked.computeIfPresent(
                grant.id(), (id, claim) -> claim.orLonger(grant.lease().toNanos()));
    }

    void releases(Grant grant) {
        asked.computeIfPresent(grant.id(), (id, claim) -> claim.back());
    }

    /** After every event. */
    void look() {
        waiting.removeIf(wish -> wish.isAnswered() || !wish.client.isAlive());
        if (!isCalm()) {
            stuckSince.clear();
            unwantedSince.clear();
            return;
        }
        for (int i = 0; i < setting.names(); i++) {
            lookForProgress("lock" + i);
        }
        if (world.now() >= setting.chaos() + Link.LONGEST_DELAY + setting.longestLease()) {
            lookForLeftovers(); // a copy of before may have come late, and have had a place in the queue until now
        }
    }

    /** Whether all claims have come to the store in the order in which they were sent, and have kept their places there. */
    boolean haveKeptOrder() {
        return setting.ordered()
                && setting.trouble() == 0
                && OUT_OF_ORDER.stream().noneMatch(world.counts::has);
    }

    /** Whether nothing bad happens any more, and all that was sent before has arrived. */
    private boolean isCalm() {
        long now = world.now();
        // Where the server's clock was set back, leases of before last that much longer.
        long echo = setting.weakness() == Setting.Weakness.CLOCK ? setting.longestLease() : 0;
        return now >= setting.chaos() + Link.LONGEST_DELAY + echo
                && !server.isDown()
                && server.runsAt(now) <= now
                && machines.stream().allMatch(machine -> machine.runsAt(now) <= now);
    }

    private void lookForProgress(String name) {
        Wish stuck = stuck(name);
        if (stuck == null) {
            stuckSince.remove(name);
            return;
        }
        long since = stuckSince.computeIfAbsent(name, first -> world.now());
        world.counts.add(Happening.WAITED_IN_CALM);
        if (world.now() - since > MOST_LEASES * setting.longestLease()) {
            world.judge.broken(
                    Rule.PROGRESS,
                    stuck + " was not granted, though nobody had been in its way since " + since / 1_000 + " µs");
        }
    }

    /** The first who waits, if nobody who waits for the name has to wait for somebody who holds it. */
    private @Nullable Wish stuck(String name) {
        Wish first = null;
        for (Wish wish : waiting) {
            if (wish.isFor(name)) {
                if (wish.mayHaveIt() || !fits(wish)) {
                    return null;
                }
                first = first == null ? wish : first;
            }
        }
        return first;
    }

    private boolean fits(Wish wish) {
        int out = Ledger.permits(wish.mode);
        for (Held held : open) {
            if (held.name.equals(wish.name) && isInHand(held)) {
                out += Ledger.permits(held.mode);
                if (Ledger.conflict(held.mode, wish.mode)
                        || wish.mode instanceof Mode.Permits some && out > some.of()) {
                    return false;
                }
            }
        }
        return true;
    }

    private void lookForLeftovers() {
        Set<ClaimId> standing = server.standing();
        unwantedSince.keySet().retainAll(standing);
        for (ClaimId id : standing) {
            Asked by = asked.get(id);
            if (by == null || !by.client.isAlive() || isWanted(by)) {
                unwantedSince.remove(id);
                continue;
            }
            long since = unwantedSince.computeIfAbsent(id, first -> world.now());
            world.counts.add(Happening.UNWANTED_IN_CALM);
            if (world.now() - since > by.bound()) {
                world.judge.broken(
                        Rule.LEFTOVERS,
                        by.client.name() + "'s claim " + Ids.of(id) + " of " + by.claim.name()
                                + " is still in the store, and nobody has wanted it since " + since / 1_000 + " µs");
            }
        }
    }

    private boolean isWanted(Asked by) {
        Claim claim = by.claim;
        if (setting.retains() && waiting.stream().noneMatch(wish -> wish.isFor(claim.name()))) {
            return true; // it may be retained, and may be a copy that came late: its lease ends it
        }
        return open.stream().anyMatch(held -> held.id.equals(claim.id()) && isInHand(held))
                || waiting.stream()
                        .anyMatch(wish -> wish.client == by.client
                                && wish.isFor(claim.name())
                                && wish.mode.kind() == claim.mode().kind());
    }

    private static boolean isInHand(Held held) {
        return !held.closed && !held.sight.isLost() && held.client.isAlive();
    }
}
