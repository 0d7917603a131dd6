package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.Lane;
import dev.holdfast.challenge.workload.Workload;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The wall clock of a waiter is set an hour forward or back while another holds; later it is set right again. */
final class ClientClock implements Fault {
    static final String NEEDS = "needs gcc (apt-get install gcc libc6-dev), and servers of the distribution";

    @Override
    public String id() {
        return "client-clock";
    }

    @Override
    public String title() {
        return "waiter's wall clock wrong by an hour";
    }

    @Override
    public boolean isQuick() {
        return false;
    }

    @Override
    public boolean waits() {
        return true;
    }

    @Override
    public Optional<String> impossible(Heat heat) {
        return heat.hasClocks() ? Optional.empty() : Optional.of(NEEDS);
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
        boolean seen = heat.setClock(waiter, heat.anyStep());
        List<Lane> unused = heat.watch(pinned, began);
        heat.unpin();
        heat.probe();
        boolean right = heat.setClock(waiter, Duration.ZERO);
        heat.bitten(pinned, seen && right ? waiting : List.of(), waiter, began);
        heat.probe();
    }
}
