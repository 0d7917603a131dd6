package dev.holdfast.challenge.fault;

import dev.holdfast.challenge.Heat;

/** The process of the holder is killed by SIGKILL. */
final class KillHolder implements Fault {
    @Override
    public String id() {
        return "kill-holder";
    }

    @Override
    public String title() {
        return "holder killed";
    }

    @Override
    public boolean waits() {
        return true;
    }

    @Override
    public void bite(Heat heat) {
        Heat.Pinned pinned = heat.pin();
        long killed = heat.kill(pinned.victim());
        heat.unpin();
        // It is in its hold until the end of time: by that it is proven.
        heat.bitten(pinned, heat.stillHeld(pinned), pinned.victim(), killed);
        heat.replace(pinned.victim());
        heat.probe();
    }
}
