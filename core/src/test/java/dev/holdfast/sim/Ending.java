package dev.holdfast.sim;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Judges what is left when nothing more happens: every caller was answered, every loss told, and nothing remains. */
final class Ending {
    private final Judge judge;
    private final List<Held> all;
    private final List<Wish> wishes;
    private final Map<String, Integer> tellings;

    Ending(Judge judge, List<Held> all, List<Wish> wishes, Map<String, Integer> tellings) {
        this.judge = judge;
        this.all = all;
        this.wishes = wishes;
        this.tellings = tellings;
    }

    void conclude(Server server, List<Machine> machines) {
        for (Wish wish : wishes) {
            if (!wish.isAnswered() && wish.client.isAlive()) {
                judge.broken(Rule.LIVENESS, wish + " was never answered");
            }
        }
        Map<String, Integer> lost = new HashMap<>();
        all.stream().filter(held -> held.sight.isLost()).forEach(held -> lost.merge(toldAs(held), 1, Integer::sum));
        for (Held held : all) {
            if (held.client.isAlive()) {
                concludeTellings(held, lost.getOrDefault(toldAs(held), 0));
            }
        }
        server.list().forEach(status -> judge.broken(Rule.NOTHING_LEFT, "the store still has " + status));
        for (Machine machine : machines) {
            Client client = machine.client();
            if (client != null && client.isAlive() && !client.isQuiet()) {
                judge.broken(Rule.NOTHING_LEFT, client.name() + " still remembers a lock");
            }
        }
    }

    /** What a client's listeners hear of: readers who share a grant have the same token. */
    static String toldAs(Client client, String name, long token) {
        return client.name() + name + token;
    }

    private static String toldAs(Held held) {
        return toldAs(held.client, held.name, held.token);
    }

    private void concludeTellings(Held held, int dueToClient) {
        int due = held.sight.isLost() ? 1 : 0;
        int toClient = tellings.getOrDefault(toldAs(held), 0);
        boolean toldToHold = held.dropped ? held.told <= due : held.told == due;
        if (!toldToHold || toClient != dueToClient) {
            judge.broken(
                    Rule.LOSS_TOLD,
                    held + (due == 1 ? " was lost" : " was not lost") + " and told " + held.told
                            + " times to the hold, " + toClient + " times to the client");
        }
    }
}
