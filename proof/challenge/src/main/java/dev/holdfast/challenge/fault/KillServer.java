package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.history.LaneHistory.Bite;
import dev.holdfast.challenge.store.StoreKind;

/** The server is killed by SIGKILL and started again with what it has on disk, while a worker holds. */
final class KillServer implements Fault {
    @Override
    public String id() {
        return "kill-server";
    }

    @Override
    public String title() {
        return "server killed and started again";
    }

    @Override
    public boolean fits(StoreKind store) {
        return store.isProxied();
    }

    @Override
    public boolean waits() {
        return true;
    }

    @Override
    public void bite(Heat heat) {
        Heat.Pinned pinned = heat.pin();
        long began = System.nanoTime();
        heat.restartServer();
        heat.unpin();
        heat.bitten(pinned, pinned.lanes(), Bite.ALL, began);
        heat.probe();
    }
}
