package dev.holdfast.sim;

import dev.holdfast.spi.Mode;

/** A call of a caller that is to be answered. */
final class Wish {
    final Client client;
    final String who;
    final String name;
    final Mode mode;
    /** Whether it waits in its client's queue. */
    final boolean waits;
    /** Which of all wishes it is, in the order of asking. */
    final int order;

    /** When it was asked for. */
    final long since;
    /** Whether a thread waits, which in this one thread goes on when those on top of it have. */
    boolean threaded;
    /** When it was answered, or given up. */
    long answeredAt = World.NEVER;
    /** Of one who waits for a time: when that has passed, by its client's clock. */
    long timeUp;
    /** Whether its own client surely held the name then. */
    boolean heldWhenTimeWasUp;

    Wish(Client client, String who, String name, Mode mode, boolean waits, int order) {
        this.client = client;
        this.who = who;
        this.name = name;
        this.mode = mode;
        this.waits = waits;
        this.order = order;
        this.since = client.world.now();
    }

    void answered() {
        answeredAt = client.world.now();
    }

    boolean isAnswered() {
        return answeredAt != World.NEVER;
    }

    /** Whether it is for this name, alone or with others. */
    boolean isFor(String one) {
        return name.contains(one);
    }

    /** Whether it may have had what it wants for a while: some of several names, or by a thread that does not run yet. */
    boolean mayHaveIt() {
        return threaded || name.startsWith("[");
    }

    @Override
    public String toString() {
        return client.name() + " " + who + (waits ? " waiting for " : " trying ") + name + " " + mode + " since "
                + since / 1_000 + " µs";
    }
}
