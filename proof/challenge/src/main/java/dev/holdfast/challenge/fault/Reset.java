package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.store.StoreKind;
import java.util.List;

/** All connections of the holder are reset; it may connect again at once. */
final class Reset implements Fault {
    @Override
    public String id() {
        return "reset";
    }

    @Override
    public String title() {
        return "holder's connections reset";
    }

    @Override
    public boolean fits(StoreKind store) {
        return store.isProxied();
    }

    @Override
    public void bite(Heat heat) {
        Heat.Pinned pinned = heat.pin();
        long began = System.nanoTime();
        boolean all = heat.reset(pinned);
        heat.unpin();
        heat.bitten(pinned.lanes(), all ? pinned.lanes() : List.of(), pinned.victim(), began);
        heat.probe();
    }
}
