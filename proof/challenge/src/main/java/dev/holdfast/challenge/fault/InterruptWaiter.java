package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.Lane;
import dev.holdfast.challenge.workload.Workload;
import java.util.List;

/** The thread of a waiter is interrupted while another holds. */
final class InterruptWaiter implements Fault {
    @Override
    public String id() {
        return "interrupt-waiter";
    }

    @Override
    public String title() {
        return "waiter interrupted";
    }

    @Override
    public boolean isQuick() {
        return false;
    }

    @Override
    public boolean fits(Workload workload) {
        return KillWaiter.hasWaiters(workload);
    }

    @Override
    public void bite(Heat heat) {
        Heat.Pinned pinned = heat.pin();
        int waiter = heat.anotherThan(pinned.victim());
        List<Lane> waiting = heat.awaitAsked(pinned, waiter);
        long began = System.nanoTime();
        List<Lane> interrupted = heat.interrupt(waiter, waiting);
        heat.unpin();
        heat.bitten(pinned, interrupted, waiter, began);
        heat.probe();
    }
}
