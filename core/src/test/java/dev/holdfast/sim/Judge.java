package dev.holdfast.sim;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldLostException;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
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
    private final Map<String, Long> highestToken = new HashMap<>();
    private final Map<String, Map<Integer, Long>> served = new HashMap<>();
    private final Map<String, Integer> claims = new HashMap<>();
    private final Map<String, Integer> tellings = new HashMap<>();
    private final Set<ClaimId> released = new HashSet<>();
    private final HandOvers handOvers = new HandOvers(this);
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
        for (int i = 0; i < index; i++) {
            Held other = open.get(i);
            if (other.name.equals(held.name) && other.isReliedOn() && !ledger.wasBroken(other.id)) {
                broken(Rule.EXCLUSION, held + " and " + other + " are both valid");
            }
        }
        ClaimId holder = ledger.holder(held.name);
        if (!held.id.equals(holder)) {
            broken(
                    Rule.STANDING,
                    held + " is valid, but in the store " + (holder == null ? "nobody" : Ids.of(holder)) + " has it");
        }
    }

    // ---- what callers do and get ----

    Wish asks(Client client, String who, String name, boolean waits) {
        Wish wish = new Wish(client, who, name, waits, wishes.size());
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
        handOvers.given(held);
        rises(held);
        inOrder(wish, held);
    }

    private void rises(Held held) {
        Ledger truth = ledger;
        if (!held.isReliedOn() || truth == null || truth.wasBroken(held.id)) {
            return;
        }
        long highest = highestToken.getOrDefault(held.name, 0L);
        if (held.token <= highest) {
            broken(Rule.TOKENS, held + " came after token " + Ids.token(highest));
        }
        highestToken.put(held.name, held.token);
        open.forEach(rival -> mustHaveBeenTold(rival, held));
    }

    private void mustHaveBeenTold(Held loser, Held winner) {
        if (loser != winner
                && !loser.closed
                && loser.name.equals(winner.name)
                && loser.told == 0
                && loser.client.isAlive()
                && loser.client.machine.isPunctual()
                && world.now() - loser.inHandSince > LATEST_TELLING
                && ledger != null
                && !ledger.wasBroken(loser.id)) {
            broken(Rule.LOSS_FIRST, winner + " began, and the holder of " + loser + " was not told");
        }
    }

    private void inOrder(Wish wish, Held held) {
        if (!wish.waits) {
            return;
        }
        Map<Integer, Long> before = served.computeIfAbsent(wish.client.name() + wish.name, none -> new HashMap<>());
        before.forEach((order, token) -> {
            if (order < wish.order != token < held.token) {
                broken(
                        Rule.FIFO,
                        held + " for wish " + wish.order + " beside token " + Ids.token(token) + " for wish " + order);
            }
        });
        before.put(wish.order, held.token);
    }

    /** Just before a caller closes. */
    void closes(Held held) {
        handOvers.closes(held);
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
                    case EXPIRED -> Happening.LOST_EXPIRED;
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
        if (claims.merge(client.name() + claim.name(), 1, Integer::sum) > 1) {
            broken(Rule.ONE_CLAIM, client.name() + " claims " + claim.name() + " a second time");
        }
    }

    void claimAnswered(Client client, Claim claim) {
        claims.merge(client.name() + claim.name(), -1, Integer::sum);
    }

    void renews(Client client, Grant grant) {
        if (released.contains(grant.id())) {
            broken(Rule.RENEWAL_STOPS, client.name() + " renews " + Ids.of(grant.id()) + " after its release");
        }
        for (Held held : open) {
            boolean tooLong = !held.closed
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
        for (Held held : all) {
            if (held.client.isAlive()) {
                concludeTellings(held);
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

    private void concludeTellings(Held held) {
        int due = held.sight.isLost() ? 1 : 0;
        int toClient = tellings.getOrDefault(held.client.name() + held.name + held.token, 0);
        if (held.told != due || toClient != due) {
            broken(
                    Rule.LOSS_TOLD,
                    held + (due == 1 ? " was lost" : " was not lost") + " and told " + held.told
                            + " times to the hold, " + toClient + " times to the client");
        }
    }
}
