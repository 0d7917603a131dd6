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

    private final long since;
    boolean answered;

    Wish(Client client, String who, String name, Mode mode, boolean waits, int order) {
        this.client = client;
        this.who = who;
        this.name = name;
        this.mode = mode;
        this.waits = waits;
        this.order = order;
        this.since = client.world.now();
    }

    @Override
    public String toString() {
        return client.name() + " " + who + (waits ? " waiting for " : " trying ") + name + " " + mode + " since "
                + since / 1_000 + " µs";
    }
}
