package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.Lane;
import dev.holdfast.challenge.history.LaneHistory.Bite;
import dev.holdfast.challenge.store.StoreKind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The wall clock of the server is set an hour forward or back while a worker holds; later it is set right again. */
final class StoreClock implements Fault {
    private static final Set<String> BY_THEIR_CLOCK = Set.of("redis", "mariadb", "postgresql");

    @Override
    public String id() {
        return "store-clock";
    }

    @Override
    public String title() {
        return "server's wall clock wrong by an hour";
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
    public boolean fits(StoreKind store) {
        return BY_THEIR_CLOCK.contains(store.id());
    }

    @Override
    public Optional<String> impossible(Heat heat) {
        return heat.target().clock().isPresent() ? Optional.empty() : Optional.of(ClientClock.NEEDS);
    }

    @Override
    public void bite(Heat heat) {
        Heat.Pinned pinned = heat.pin();
        long began = System.nanoTime();
        boolean seen = heat.setStoreClock(heat.anyStep());
        List<Lane> unused = heat.watch(pinned, began);
        heat.unpin();
        heat.probe();
        boolean right = heat.setStoreClock(Duration.ZERO);
        heat.bitten(pinned, seen && right ? pinned.lanes() : List.of(), Bite.ALL, began);
        heat.probe();
    }
}
