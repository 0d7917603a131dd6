package dev.holdfast.sim;

import dev.holdfast.LockStatus;
import dev.holdfast.internal.EngineDoor;
import dev.holdfast.spi.Grant;
import java.util.HashMap;
import java.util.Map;

/** Judges what callers are shown: none of what their own client had given back, successfully, before they asked. */
final class Looks {
    /** A grant on its way back, the order-th of all. */
    private record Return(Client client, int order) {}

    private final Judge judge;
    private final Map<String, Return> returns = new HashMap<>();

    Looks(Judge judge) {
        this.judge = judge;
    }

    void releases(Client client, Grant grant) {
        returns.putIfAbsent(key(grant.name(), grant.number()), new Return(client, returns.size()));
    }

    /** Nobody knows whether it is there. */
    void releaseFailed(Grant grant) {
        returns.computeIfPresent(
                key(grant.name(), grant.number()), (key, back) -> new Return(back.client, Integer.MAX_VALUE));
    }

    /** How many have begun to go back by now. */
    int count() {
        return returns.size();
    }

    /**
     * @param before how many had begun to go back when the client asked
     */
    void shown(Client client, LockStatus status, int before) {
        status.grant().ifPresent(held -> {
            Return back = returns.get(key(status.name(), EngineDoor.number(held.token())));
            if (back != null && back.client == client && back.order < before) {
                judge.broken(
                        Rule.EXACT,
                        client.name() + " is shown " + status.name() + " held by " + Ids.token(held.token())
                                + ", which it had given back before it asked");
            }
        });
    }

    private static String key(String name, long number) {
        return name + number;
    }
}
