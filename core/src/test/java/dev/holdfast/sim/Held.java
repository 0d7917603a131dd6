package dev.holdfast.sim;

import dev.holdfast.HoldOptions;
import dev.holdfast.internal.EngineDoor;
import dev.holdfast.internal.HoldHandle;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;

/** A hold in a caller's hand, and what the judge remembers of it. */
final class Held {
    final Client client;
    final String name;
    /** How it is held; a writer may have become a reader. */
    Mode mode;

    final HoldOptions options;
    final HoldHandle anchor;
    final EngineDoor.Sight sight;
    final ClaimId id;
    final long token;
    final long inHandSince;
    /** The caller has begun to close it. */
    boolean closed;
    /** Nobody refers to it any more, and nobody has closed it. */
    boolean dropped;

    /** When it was closed, or seen to be lost. */
    long endedAt = World.NEVER;

    boolean wasSuspect;
    int told;

    Held(Client client, String name, Mode mode, HoldOptions options, HoldHandle anchor) {
        this.client = client;
        this.name = name;
        this.mode = mode;
        this.options = options;
        this.anchor = anchor;
        this.sight = EngineDoor.sight(anchor);
        this.id = ClaimId.of(anchor.id());
        this.token = anchor.token();
        this.inHandSince = client.world.now();
    }

    /** Whether nobody may hold in this way beside another. */
    boolean conflictsWith(Held other) {
        return name.equals(other.name) && Ledger.conflict(mode, other.mode);
    }

    int index() {
        return (int) (token % 1024);
    }

    /** Whether its caller may rely on it at this moment; on a machine that sleeps nobody relies on anything. */
    boolean isReliedOn() {
        return !closed && client.isAlive() && !client.machine.clock.isAsleep() && sight.isValid();
    }

    @Override
    public String toString() {
        return client.name() + "'s hold of " + name + " " + Ids.token(token) + " (" + Ids.of(id) + ")";
    }
}
