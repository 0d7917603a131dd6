package dev.holdfast.sim;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldLostException;
import dev.holdfast.LockMode;
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
    private @Nullable Ledger ledger;
    private @Nullable Verdict verdict;

    Judge(World world) {
        this.world = world;
    }

    void consult(Ledger truth) {
        ledger = truth;
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
    }

    private void look(Held held, int index) {
        if (held.wasSuspect != held.sight.isSuspect()) {
            world.counts.add(held.wasSuspect ? Happening.CONFIRMED_AGAIN : Happening.SUSPECT);
            held.wasSuspect = !held.wasSuspect;
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
        return wish;
    }

    void answered(Wish wish, @Nullable Throwable failure) {
        wish.answered = true;
        if (failure != null
                && !(failure instanceof StoreUnavailableException)
                && !(failure instanceof ClientClosedException)) {
            broken(Rule.NO_SURPRISE, wish + " failed: " + failure);
        }
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
                    case EXPIRED, LEASE_ENDED -> Happening.LOST_EXPIRED;
                    case REFUSED, LEAKED -> Happening.LOST_REFUSED;
                    case STORE -> Happening.LOST_STORE;
                    case MAXIMUM_HOLD -> Happening.LOST_MAXIMUM_HOLD;
                    case CLIENT_CLOSED -> Happening.LOST_CLIENT_CLOSED;
                });
        held.client.note(() -> "is told that it lost " + held.name + " " + Ids.token(held.token) + ": " + loss.cause());
    }

    void toldClient(Client client, Loss loss) {
        tellings.merge(client.name() + loss.name() + loss.token(), 1, Integer::sum);
    }

    // ---- what engines ask of the store ----

    void claims(Client client, Claim claim) {
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
        if (released.contains(grant.id())) {
            broken(Rule.RENEWAL_STOPS, client.name() + " renews " + Ids.of(grant.id()) + " after its release");
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

    void releases(Grant grant) {
        released.add(grant.id());
    }

    // ---- in the end ----

    /** When nothing is left to happen. */
    void conclude(Server server, List<Machine> machines) {
        for (Wish wish : wishes) {
            if (!wish.answered && wish.client.isAlive()) {
                broken(Rule.LIVENESS, wish + " was never answered");
            }
        }
        Map<String, Integer> lost = new HashMap<>();
        all.stream().filter(held -> held.sight.isLost()).forEach(held -> lost.merge(toldAs(held), 1, Integer::sum));
        for (Held held : all) {
            if (held.client.isAlive()) {
                concludeTellings(held, lost.getOrDefault(toldAs(held), 0));
            }
        }
        server.list().forEach(status -> broken(Rule.NOTHING_LEFT, "the store still has " + status));
        for (Machine machine : machines) {
            Client client = machine.client();
            if (client != null && client.isAlive() && !client.isQuiet()) {
                broken(Rule.NOTHING_LEFT, client.name() + " still remembers a lock");
            }
        }
    }

    /** What a client's listeners hear of: readers who share a grant have the same token. */
    private static String toldAs(Held held) {
        return held.client.name() + held.name + held.token;
    }

    private void concludeTellings(Held held, int dueToClient) {
        int due = held.sight.isLost() ? 1 : 0;
        int toClient = tellings.getOrDefault(toldAs(held), 0);
        if (held.told != due || toClient != dueToClient) {
            broken(
                    Rule.LOSS_TOLD,
                    held + (due == 1 ? " was lost" : " was not lost") + " and told " + held.told
                            + " times to the hold, " + toClient + " times to the client");
        }
    }
}
