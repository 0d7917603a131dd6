package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.Lane;
import dev.holdfast.challenge.store.StoreKind;
import dev.holdfast.challenge.workload.Workload;
import java.util.List;

/**
 * All connections of a worker are reset, those on which it hears of releases too; it may connect again at once.
 *
 * @param ofHolder whether it holds the locks; else it waits for them
 */
record Reset(boolean ofHolder) implements Fault {
    @Override
    public String id() {
        return ofHolder ? "reset" : "reset-waiter";
    }

    @Override
    public String title() {
        return ofHolder ? "holder's connections reset" : "waiter's connections reset";
    }

    @Override
    public boolean isQuick() {
        return ofHolder;
    }

    @Override
    public boolean fits(StoreKind store) {
        return store.isProxied();
    }

    @Override
    public boolean fits(Workload workload) {
        return ofHolder || KillWaiter.hasWaiters(workload);
    }

    @Override
    public void bite(Heat heat) {
        Heat.Pinned pinned = heat.pin();
        int victim = ofHolder ? pinned.victim() : heat.anotherThan(pinned.victim());
        List<Lane> reset = ofHolder ? pinned.lanes() : heat.awaitAsked(pinned, victim);
        long began = System.nanoTime();
        boolean cut = heat.reset(victim);
        heat.unpin();
        heat.bitten(pinned, cut ? reset : List.of(), victim, began);
        heat.probe();
    }
}
