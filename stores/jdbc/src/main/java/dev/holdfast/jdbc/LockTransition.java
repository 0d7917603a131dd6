package dev.holdfast.jdbc;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.WaiterExpiry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * One step of a lock from one state to the next, worked out here and written by one statement that insists on the version
 * it began from. The same for every database.
 *
 * <pre>
 *                claim: fits, nobody before me                     release, lease over
 *   free ──────────────────────────────────────────► held ─────────────────────────────────► settle
 *    ▲                                                ▲                                         │
 *    │                                                │ confirmed: the claim, asked again       │ somebody waits, and fits
 *    │                     offer runs out             │                                         ▼
 *    └────────────────────────────────────────────  offered to the first in the queue ◄─────────┘
 *                                                     (a grant of a second, and its client is notified)
 * </pre>
 *
 * <p>Each change of a lock ends with the queue: as long as its first claim fits beside the holders, that claim leaves
 * the queue and becomes a holder for {@value #OFFER_MICROS} µs. This is an offer. The client confirms it by asking again
 * under the same id, which begins the lease. So no claim overtakes another, readers enter together, and a waiter that died
 * costs one offer. The idea is that of the queue in {@link java.util.concurrent.locks.AbstractQueuedSynchronizer}, with
 * deadlines in the place of trust.
 *
 * <p>For one thread; used once.
 */
final class LockTransition {
    static final long OFFER_MICROS = 1_000_000;

    private final LockRow from;
    private final long now;
    private final long version;
    private @Nullable HolderEntry exclusive;
    private final List<HolderEntry> sharing;
    private final List<WaiterEntry> waiting;
    private final List<WaiterEntry> offered = new ArrayList<>();
    private boolean granted;
    private boolean reliedOn;
    private boolean changed;

    /**
     * Begins from a state.
     *
     * @param floor what the version that is written must be above
     */
    LockTransition(LockRow from, long floor) {
        this.from = from;
        this.now = from.now();
        this.version = Math.max(Math.max(from.version() + 1, Math.addExact(floor, 1)), now);
        this.exclusive = from.exclusive();
        this.sharing = new ArrayList<>(from.sharing());
        this.waiting = new ArrayList<>(from.waiting());
    }

    /**
     * Takes the lock for a claim, or its place in the queue if it has a channel for offers.
     *
     * @param channel where it receives offers; null for a claim that does not wait
     */
    Optional<HolderEntry> claim(Claim claim, @Nullable String channel) {
        HolderEntry mine = holdingOf(claim.id().value());
        if (mine != null && (mine.isOffer() || !mine.isExpired(now))) {
            waiting.removeIf(place -> place.id().equals(mine.id()));
            return Optional.of(confirm(mine, claim));
        }
        String id = claim.id().value();
        expire(id);
        WaiterEntry place = placeOf(id);
        if (place == null) {
            waiting.add(new WaiterEntry(id, claim.mode(), channel == null ? "" : channel, now + placeMicros(claim)));
        }
        settle(claim);
        HolderEntry got = holdingOf(id);
        if (got != null) {
            return Optional.of(got);
        }
        if (channel == null) {
            waiting.removeIf(each -> each.id().equals(id));
        } else if (place == null) {
            changed = true;
        } else {
            keep(place, placeMicros(claim));
        }
        return Optional.empty();
    }

    /** Ends the hold or the offer of a claim; whether it stood. */
    boolean release(String id) {
        HolderEntry mine = holdingOf(id);
        if (mine == null) {
            return false;
        }
        remove(mine);
        changed = true;
        expire("");
        settle(null);
        return !mine.isExpired(now) && !mine.isOffer();
    }

    /** Makes an exclusive hold that of a reader, with its number and its lease; whether it is one now. */
    boolean downgrade(String id) {
        HolderEntry mine = holdingOf(id);
        if (mine == null || mine.isExpired(now) || mine.isOffer() || mine.mode() instanceof Mode.Permits) {
            return false;
        }
        if (mine.mode() instanceof Mode.Exclusive) {
            remove(mine);
            hold(new HolderEntry(id, Mode.SHARED, mine.number(), mine.acquiredAt(), mine.expiresAt(), mine.holder()));
            changed = true;
            reliedOn = true;
            expire("");
            settle(null);
        }
        return true;
    }

    /** Takes out whatever a claim has left: its place, an offer, a hold. */
    void withdraw(String id) {
        if (waiting.removeIf(place -> place.id().equals(id))) {
            changed = true;
            expire("");
            settle(null);
        }
        release(id);
    }

    /** Breaks the grant of a number; whether it stood. */
    boolean breakGrant(long number, boolean atOnce) {
        expire("");
        Optional<HolderEntry> shown = holdings().stream()
                .filter(each -> each.number() == number && !each.isOffer())
                .findFirst();
        shown.ifPresent(held -> {
            changed = true;
            reliedOn = true;
            remove(held);
            if (atOnce) {
                settle(null);
            } else {
                hold(held.broken());
            }
        });
        return shown.isPresent();
    }

    /** Renews a hold that is shared; returns whether it is valid. */
    boolean renew(String id, long number, Duration lease) {
        for (int i = 0; i < sharing.size(); i++) {
            HolderEntry each = sharing.get(i);
            if (each.id().equals(id) && each.number() == number && !each.isExpired(now)) {
                sharing.set(
                        i,
                        new HolderEntry(
                                id, each.mode(), number, each.acquiredAt(), now + Micros.of(lease), each.holder()));
                changed = true;
                reliedOn = true;
                return true;
            }
        }
        return false;
    }

    /** Whether anything must be written. */
    boolean isChanged() {
        return changed;
    }

    /** Whether somebody got the lock by it. */
    boolean isGrant() {
        return granted;
    }

    /** Whether its answer promises what a crash must not undo: a grant, a longer lease, room for readers, an end. */
    boolean isReliedOn() {
        return granted || reliedOn;
    }

    /** The claims whose clients must be notified that it is their turn. */
    List<WaiterEntry> offered() {
        return offered;
    }

    LockRow from() {
        return from;
    }

    /** The state to write. */
    LockRow to() {
        return new LockRow(version, exclusive, sharing, waiting, now);
    }

    /** How many are in the queue before a claim. */
    int ahead(String id) {
        int before = 0;
        for (WaiterEntry place : waiting) {
            if (place.id().equals(id)) {
                return before;
            }
            before++;
        }
        return before;
    }

    /** How long until a lease or an offer is over, or the place of somebody before a claim, at most. */
    long microsToNextEnd(String id) {
        LongStream leases = holdings().stream().mapToLong(HolderEntry::expiresAt);
        LongStream places = waiting.stream().limit(ahead(id)).mapToLong(WaiterEntry::aliveUntil);
        return LongStream.concat(leases, places).map(end -> end - now).min().orElse(0);
    }

    private List<HolderEntry> holdings() {
        HolderEntry alone = exclusive;
        return alone == null ? sharing : List.of(alone);
    }

    private @Nullable HolderEntry holdingOf(String id) {
        for (HolderEntry each : holdings()) {
            if (each.id().equals(id)) {
                return each;
            }
        }
        return null;
    }

    private @Nullable WaiterEntry placeOf(String id) {
        for (WaiterEntry place : waiting) {
            if (place.id().equals(id)) {
                return place;
            }
        }
        return null;
    }

    private static long placeMicros(Claim claim) {
        return Micros.of(WaiterExpiry.of(claim));
    }

    private void keep(WaiterEntry place, long life) {
        if (place.aliveUntil() - now < life * 2 / 3) {
            waiting.replaceAll(each -> each == place ? place.until(now + life) : each);
            changed = true;
        }
    }

    /** What is over is not written by itself: it is left out when something else changes. */
    private void expire(String except) {
        HolderEntry alone = exclusive;
        if (alone != null && alone.isExpired(now)) {
            exclusive = null;
        }
        sharing.removeIf(each -> each.isExpired(now));
        waiting.removeIf(place -> place.aliveUntil() <= now && !place.id().equals(except));
    }

    private void settle(@Nullable Claim asking) {
        for (Iterator<WaiterEntry> queue = waiting.iterator(); queue.hasNext(); ) {
            WaiterEntry head = queue.next();
            if (!LockRow.fits(head.mode(), exclusive, sharing)) {
                return;
            }
            queue.remove();
            changed = true;
            if (asking != null && head.id().equals(asking.id().value())) {
                hold(grant(asking));
            } else {
                hold(new HolderEntry(head.id(), head.mode(), 0, now, now + OFFER_MICROS, HolderEntry.NOBODY));
                offered.add(head);
            }
        }
    }

    private void hold(HolderEntry holding) {
        if (holding.mode() instanceof Mode.Exclusive) {
            exclusive = holding;
        } else {
            sharing.add(holding);
        }
    }

    private void remove(HolderEntry holding) {
        if (holding.equals(exclusive)) {
            exclusive = null;
        }
        sharing.remove(holding);
    }

    /** A hold that is claimed again keeps its number, by which it is renewed, and is not made shorter. */
    private HolderEntry confirm(HolderEntry mine, Claim claim) {
        HolderEntry fresh = grant(claim);
        HolderEntry confirmed = mine.isOffer()
                ? fresh
                : new HolderEntry(
                        mine.id(),
                        mine.mode(),
                        mine.number(),
                        mine.acquiredAt(),
                        Math.max(mine.expiresAt(), fresh.expiresAt()),
                        fresh.holder());
        remove(mine);
        hold(confirmed);
        changed = true;
        return confirmed;
    }

    private HolderEntry grant(Claim claim) {
        granted = true;
        return new HolderEntry(
                claim.id().value(), claim.mode(), version, now, now + Micros.of(claim.lease()), claim.holder());
    }
}
