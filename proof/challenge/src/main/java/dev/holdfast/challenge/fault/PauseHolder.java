package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;
import dev.holdfast.challenge.Lane;
import dev.holdfast.challenge.history.LaneHistory.Bite;
import java.util.List;

/** The process of the holder is stopped by SIGSTOP until its lock has gone to another, and goes on. */
final class PauseHolder implements Fault {
    @Override
    public String id() {
        return "pause-holder";
    }

    @Override
    public String title() {
        return "holder stopped beyond its lease";
    }

    @Override
    public boolean waits() {
        return true;
    }

    @Override
    public void bite(Heat heat) {
        Heat.Pinned pinned = heat.pin();
        long stopped = heat.stop(pinned.victim());
        List<Lane> taken;
        try {
            taken = heat.awaitTaken(pinned, stopped);
        } finally {
            heat.goOn(pinned.victim());
        }
        heat.unpin();
        // A process that is stopped while it has the file of a store to itself is in everybody's way.
        int victim = heat.target().isFile() ? Bite.ALL : pinned.victim();
        heat.bitten(pinned, taken, victim, stopped);
        heat.probe();
    }
}
