package dev.holdfast.sim;

import dev.holdfast.spi.Claim;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Judges the answer "busy". One who tries hears it only if somebody else had the name, or was before it, at some time
 * since it asked: the store says so, and is right, or another caller of its client has it or wants it. One who waits for a
 * time hears it only where the store has answered lately, or its own client surely holds the name.
 */
final class Busy {
    /** How old the store's last answer may be when a wait ends without a further question. */
    private static final long FRESH = 250_000_000;

    private final Judge judge;
    private final List<Held> all;
    private final List<Wish> wishes;
    /** When the store said so last, by client and name. */
    private final Map<String, Long> refusals = new HashMap<>();

    Busy(Judge judge, List<Held> all, List<Wish> wishes) {
        this.judge = judge;
        this.all = all;
        this.wishes = wishes;
    }

    /** The store did not grant a claim that does not wait; that it was right the ledger has seen. */
    void refusedByStore(Client client, Claim claim) {
        refusals.put(client.name() + claim.name(), client.world.now());
    }

    void tried(Wish wish) {
        Long refused = refusals.get(wish.client.name() + wish.name);
        boolean inStore = refused != null && refused >= wish.since;
        if (!inStore && !isHadBeside(wish) && !isWantedBeside(wish)) {
            judge.broken(Rule.BUSY, wish + " was refused, though nobody else had it or wanted it");
        }
    }

    private boolean isHadBeside(Wish wish) {
        return all.stream()
                .anyMatch(held ->
                        held.client == wish.client && held.name.equals(wish.name) && held.endedAt >= wish.since);
    }

    private boolean isWantedBeside(Wish wish) {
        return wishes.stream().anyMatch(other -> isBeside(other, wish));
    }

    private static boolean isBeside(Wish other, Wish wish) {
        return other != wish && other.client == wish.client && other.isFor(wish.name) && other.answeredAt >= wish.since;
    }

    void waited(Wish wish) {
        boolean heard = wish.client.store.heardAt() - wish.timeUp >= -FRESH;
        boolean among = wishes.stream().anyMatch(other -> isBeside(other, wish) && other.mayHaveIt());
        if (!heard && !wish.heldWhenTimeWasUp && !among) {
            judge.broken(Rule.BUSY, wish + " was told that its time has passed, though the store had not answered");
        }
    }

    /** Whether a caller of this client surely holds a name now. */
    boolean isHeldBy(Client client, String name) {
        return all.stream()
                .anyMatch(held -> held.client == client
                        && held.name.equals(name)
                        && (!held.closed || held.dropped)
                        && held.sight.isValid());
    }
}
