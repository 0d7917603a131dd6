package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.Lane;
import dev.holdfast.challenge.workload.Workload;
import java.util.List;

/** The process of a waiter is killed by SIGKILL while another holds. */
final class KillWaiter implements Fault {
    @Override
    public String id() {
        return "kill-waiter";
    }

    @Override
    public String title() {
        return "waiter killed";
    }

    @Override
    public boolean fits(Workload workload) {
        return hasWaiters(workload);
    }

    /** With a permit to spare nobody waits, nor does a timer. */
    static boolean hasWaiters(Workload workload) {
        return !workload.id().equals("permits") && workload.isForEach();
    }

    @Override
    public void bite(Heat heat) {
        Heat.Pinned pinned = heat.pin();
        int waiter = heat.anotherThan(pinned.victim());
        List<Lane> waiting = heat.awaitAsked(pinned, waiter);
        long killed = heat.kill(waiter);
        heat.unpin();
        heat.bitten(pinned, heat.stillAsked(waiting, waiter), waiter, killed);
        heat.replace(waiter);
        heat.probe();
    }
}
