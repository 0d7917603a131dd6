package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.Lane;
import dev.holdfast.challenge.history.LaneHistory.Bite;
import java.util.List;

/** Nothing is done: the workers race, and in the end those who wait must be served although nobody else comes. */
final class Steady implements Fault {
    private static final int TURNS = 10;

    @Override
    public String id() {
        return "steady";
    }

    @Override
    public String title() {
        return "race, nothing is done";
    }

    @Override
    public void bite(Heat heat) {
        long began = System.nanoTime();
        List<Lane> had = heat.awaitTurns(TURNS);
        heat.bitten(had, Bite.NOBODY, began);
        heat.probe();
        Heat.Pinned pinned = heat.pin();
        heat.awaitWaiters(pinned);
        heat.probeWaiters(pinned);
    }
}
