package dev.holdfast.sim;

/** A call of a caller that is to be answered. */
final class Wish {
    final Client client;
    final String who;
    final String name;
    /** Whether it waits in its client's queue. */
    final boolean waits;
    /** Which of all wishes it is, in the order of asking. */
    final int order;

    private final long since;
    boolean answered;

    Wish(Client client, String who, String name, boolean waits, int order) {
        this.client = client;
        this.who = who;
        this.name = name;
        this.waits = waits;
        this.order = order;
        this.since = client.world.now();
    }

    @Override
    public String toString() {
        return client.name() + " " + who + (waits ? " waiting for " : " trying ") + name + " since " + since / 1_000
                + " µs";
    }
}
