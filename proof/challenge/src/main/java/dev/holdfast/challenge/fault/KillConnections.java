package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.history.LaneHistory.Bite;
import dev.holdfast.challenge.store.StoreKind;
import java.util.List;
import java.util.Set;

/** The server ends all connections, those of the holder, of the waiters and of subscribers; all may connect again at once. */
final class KillConnections implements Fault {
    private static final Set<String> WITH_A_COMMAND = Set.of("redis", "mariadb", "postgresql");

    @Override
    public String id() {
        return "kill-connections";
    }

    @Override
    public String title() {
        return "all connections ended by the server";
    }

    @Override
    public boolean isQuick() {
        return false;
    }

    @Override
    public boolean fits(StoreKind store) {
        return WITH_A_COMMAND.contains(store.id());
    }

    @Override
    public void bite(Heat heat) {
        Heat.Pinned pinned = heat.pin();
        heat.awaitWaiters(pinned);
        long began = System.nanoTime();
        boolean killed = heat.target().killConnections() > 0;
        heat.unpin();
        heat.bitten(pinned, killed ? pinned.lanes() : List.of(), Bite.ALL, began);
        heat.probe();
    }
}
