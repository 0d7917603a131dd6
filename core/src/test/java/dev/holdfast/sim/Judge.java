package dev.holdfast.sim;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldLostException;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Watches over the {@link Rule}s: after every event it looks at all holds, in true time, and at every call, answer and
 * telling it is shown. The first breach ends the schedule.
 */
final class Judge {
    /** A breach. */
    record Verdict(Rule rule, String text) {}

    private static final long LATEST_TELLING = 1_000_000;

    private final World world;
    private final List<Held> open = new ArrayList<>();
    private final List<Held> all = new ArrayList<>();
    private final List<Wish> wishes = new ArrayList<>();
    private final Map<String, Integer> claims = new HashMap<>();
    private final Map<String, Integer> tellings = new HashMap<>();
    private final Set<ClaimId> released = new HashSet<>();
    private final HandOvers handOvers = new HandOvers(this);
    private final Joining joining = new Joining(this);
    private final Rising rising = new Rising(this);
    private final Turns turns = new Turns(this);
    private final Looks looks = new Looks(this);
    final Busy busy = new Busy(this, all, wishes);
    private @Nullable Ledger ledger;
    private @Nullable Delays delays;
    private @Nullable Verdict verdict;

    Judge(World world) {
        this.world = world;
    }

    void consult(Setting setting, Server server, List<Machine> machines) {
        ledger = server.ledger;
        delays = new Delays(world, setting, server, machines, open);
    }

    private void timing(Consumer<Delays> what) {
        if (delays != null) {
            what.accept(delays);
        }
    }

    /** Whether the store has served all claims in the order in which they were sent. */
    boolean storeKeptOrder() {
        return delays != null && delays.haveKeptOrder();
    }

    void broken(Rule rule, String text) {
        if (verdict == null) {
            verdict = new Verdict(rule, text);
            world.timeline.note("JUDGE", () -> rule + ": " + rule.text + ". Here: " + text);
        }
    }

    boolean hasSpoken() {
        return verdict != null;
    }

    @Nullable
    Verdict verdict() {
        return verdict;
    }

    // ---- after every event ----

    /** Compares what every holder believes with what is so. */
    void look() {
        for (int i = open.size() - 1; i >= 0; i--) {
            Held held = open.get(i);
            if (held.closed || !held.client.isAlive()) {
                open.remove(i);
            } else {
                look(held, i);
            }
        }
        timing(Delays::look);
    }

    private void look(Held held, int index) {
        if (held.wasSuspect != held.sight.isSuspect()) {
            world.counts.add(held.wasSuspect ? Happening.CONFIRMED_AGAIN : Happening.SUSPECT);
            held.wasSuspect = !held.wasSuspect;
        }
        if (held.endedAt == World.NEVER && held.sight.isLost()) {
            held.endedAt = world.now();
        }
        if (!held.isReliedOn() || ledger == null || ledger.wasBroken(held.id)) {
            return;
        }
        int out = Ledger.permits(held.mode);
        for (int i = 0; i < index; i++) {
            Held other = open.get(i);
            if (other.name.equals(held.name) && other.isReliedOn() && !ledger.wasBroken(other.id)) {
                out += Ledger.permits(other.mode);
                if (held.conflictsWith(other) || held.mode instanceof Mode.Permits some && out > some.of()) {
                    broken(Rule.EXCLUSION, held + " and " + other + " are both valid");
                }
            }
        }
        if (!ledger.has(held.name, held.id)) {
            broken(Rule.STANDING, held + " is valid, but in the store " + ledger.shown(held.name) + " has it");
        }
    }

    // ---- what callers do and get ----

    Wish asks(Client client, String who, String name, Mode mode, boolean waits) {
        Wish wish = new Wish(client, who, name, mode, waits, wishes.size());
        wishes.add(wish);
        timing(delays -> delays.asks(wish));
        return wish;
    }

    void answered(Wish wish, @Nullable Throwable failure) {
        wish.answered();
        if (failure != null
                && !(failure instanceof StoreUnavailableException)
                && !(failure instanceof ClientClosedException)) {
            broken(Rule.NO_SURPRISE, wish + " failed: " + failure);
        }
    }

    /** One who tried was told that others have it, or are before it. */
    void refused(Wish wish) {
        answered(wish, null);
        busy.tried(wish);
    }

    /** One who waited for a time was told that it has passed. */
    void timedOut(Wish wish) {
        answered(wish, null);
        busy.waited(wish);
    }

    void granted(Wish wish, Held held) {
        world.counts.add(Happening.GRANTED);
        if (held.options.strictFifo()) {
            world.counts.add(Happening.STRICT_FIFO);
        }
        if (held.sight.isLost()) {
            world.counts.add(Happening.LOST_BEFORE_IN_HAND);
        }
        all.add(held);
        open.add(held);
        timing(delays -> delays.granted(held.name));
        if (held.mode.kind() != LockMode.SHARED) {
            handOvers.given(held);
        }
        joining.given(wish, held);
        rises(held);
        turns.given(wish, held);
    }

    private void rises(Held held) {
        Ledger truth = ledger;
        if (!held.isReliedOn() || truth == null || truth.wasBroken(held.id)) {
            return;
        }
        rising.given(held);
        open.forEach(rival -> mustHaveBeenTold(rival, held));
    }

    private void mustHaveBeenTold(Held loser, Held winner) {
        if (loser != winner
                && !loser.closed
                && loser.conflictsWith(winner)
                && loser.told == 0
                && loser.client.isAlive()
                && loser.client.machine.isPunctual()
                && world.now() - loser.inHandSince > LATEST_TELLING
                && ledger != null
                && !ledger.wasBroken(loser.id)) {
            broken(Rule.LOSS_FIRST, winner + " began, and the holder of " + loser + " was not told");
        }
    }

    /** Several names were acquired together: at this moment all of them are held. */
    void together(List<Held> several) {
        several.stream()
                .filter(held -> !held.sight.isValid())
                .forEach(held -> broken(Rule.ALL_OR_NONE, held + " is not valid among those that came with it"));
    }

    /** A writer goes on as a reader. */
    void downgraded(Held held) {
        held.mode = Mode.SHARED;
        joining.opened(held);
    }

    /** The store's word that nobody waits for what is granted here. */
    void heardNobodyWaits(Client client, Grant grant) {
        joining.heardNobodyWaits(client, grant);
    }

    /** Just before a caller closes. */
    void closes(Held held) {
        if (held.mode.kind() != LockMode.SHARED) {
            handOvers.closes(held);
        }
        held.closed = true;
        held.endedAt = world.now();
    }

    /** Nobody can close it any more: it is renewed no longer, and ends with its lease. */
    void dropped(Held held) {
        world.counts.add(Happening.DROPPED);
        held.closed = true;
        held.dropped = true;
    }

    /** Just after. */
    void closed(Held held, boolean wasGood, @Nullable Throwable thrown) {
        world.counts.add(thrown == null ? Happening.CLOSED : Happening.CLOSED_AFTER_LOSS);
        if (thrown != null && !(thrown instanceof HoldLostException)) {
            broken(Rule.NO_SURPRISE, "the close of " + held + " threw " + thrown);
        } else if (thrown != null && !held.sight.isLost()) {
            broken(Rule.CLOSE_SAYS, "the close of " + held + " threw, though it was not lost");
        } else if (thrown == null && !wasGood) {
            broken(Rule.CLOSE_SAYS, "the close of " + held + " said nothing, though it was not valid any more");
        }
        if (held.anchor.token() != held.token) {
            broken(Rule.TOKENS, "the token of " + held + " became " + Ids.token(held.anchor.token()));
        }
    }

    void told(Held held, Loss loss) {
        held.told++;
        world.counts.add(
                switch (loss.cause()) {
                    case NOT_RENEWED_IN_TIME, FIXED_LEASE_ENDED -> Happening.LOST_EXPIRED;
                    case GONE_FROM_STORE, LEAKED -> Happening.LOST_REFUSED;
                    case SESSION_ENDED -> Happening.LOST_STORE;
                    case MAX_HOLD_REACHED -> Happening.LOST_MAXIMUM_HOLD;
                    case CLIENT_CLOSED -> Happening.LOST_CLIENT_CLOSED;
                });
        held.client.note(() -> "is told that it lost " + held.name + " " + Ids.token(held.token) + ": " + loss.cause());
    }

    void toldClient(Client client, Loss loss) {
        if (loss.cause() == Loss.Cause.LEAKED) {
            world.counts.add(Happening.LEAK_TOLD);
        }
        tellings.merge(Ending.toldAs(client, loss.name(), loss.token()), 1, Integer::sum);
    }

    // ---- what engines ask of the store ----

    void claims(Client client, Claim claim) {
        timing(delays -> delays.claims(client, claim));
        if (isAlone(claim) && claims.merge(queue(client, claim), 1, Integer::sum) > 1) {
            broken(Rule.ONE_CLAIM, client.name() + " claims " + claim.name() + " a second time");
        }
    }

    void claimAnswered(Client client, Claim claim) {
        if (isAlone(claim)) {
            claims.merge(queue(client, claim), -1, Integer::sum);
        }
    }

    /** Of those who would hold beside others any number may try at once. */
    private static boolean isAlone(Claim claim) {
        return claim.waits() || claim.mode().kind() == LockMode.EXCLUSIVE;
    }

    private static String queue(Client client, Claim claim) {
        return client.name() + claim.name() + claim.mode().kind();
    }

    void renews(Client client, Grant grant) {
        timing(delays -> delays.renews(grant));
        if (released.contains(grant.id())) {
            broken(Rule.RENEWAL_STOPS, client.name() + " renews " + Ids.of(grant.id()) + " after its release");
        }
        for (Held held : all) {
            if (held.dropped && held.id.equals(grant.id()) && held.mode.kind() != LockMode.SHARED) {
                broken(Rule.RENEWAL_STOPS, client.name() + " renews " + held + ", which nobody can close");
            }
        }
        for (Held held : open) {
            boolean tooLong = !held.closed
                    && held.mode.kind() != LockMode.SHARED // others may hold by the same grant
                    && held.id.equals(grant.id())
                    && held.options.autoRenew()
                    && held.options.maxHold().isPresent()
                    && client.time.nanoTime() - held.sight.since()
                            >= held.options.maxHold().get().toNanos();
            if (tooLong) {
                broken(Rule.RENEWAL_STOPS, client.name() + " renews " + held + " beyond its maximum hold time");
            }
        }
    }

    void releases(Client client, Grant grant) {
        timing(delays -> delays.releases(grant));
        released.add(grant.id());
        for (Held held : all) {
            if (held.id.equals(grant.id()) && (!held.closed || held.dropped) && !held.sight.isLost()) {
                broken(Rule.RELEASE, client.name() + " gives " + held + " back, which is open");
            }
        }
        looks.releases(client, grant);
    }

    void releaseFailed(Grant grant) {
        looks.releaseFailed(grant);
    }

    /** How many grants have begun to go back by now. */
    int returns() {
        return looks.count();
    }

    /** What a caller was shown of a name, or of several, who asked when so many grants had begun to go back. */
    void shown(Client client, List<LockStatus> seen, int before) {
        seen.forEach(status -> looks.shown(client, status, before));
    }

    // ---- in the end ----

    /** When nothing is left to happen. */
    void conclude(Server server, List<Machine> machines) {
        new Ending(this, all, wishes, tellings).conclude(server, machines);
    }
}
