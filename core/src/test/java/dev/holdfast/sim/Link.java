package dev.holdfast.sim;

/**
 * The network between one machine and the server: it delays every message, loses some, delivers some twice, and for a
 * while everything when it is cut.
 *
 * <p>An ordered link is a connection: what arrives, arrives in the order it was sent. On any other link a message may
 * overtake another, as requests do that go over several connections.
 */
final class Link {
    private static final long LEAST_DELAY_MICROS = 50;
    private static final long MOST_DELAY_MICROS = 600_000;
    /** No message takes longer, in nanoseconds. */
    static final long LONGEST_DELAY = MOST_DELAY_MICROS * 1_000;

    private final World world;
    private final String name;
    private final boolean ordered;
    private final int trouble;
    private final long calmFrom;
    private long cutUntil;
    private long lastThere;
    private long lastBack;

    Link(World world, String name, Setting setting) {
        this.world = world;
        this.name = name;
        this.ordered = setting.ordered();
        this.trouble = setting.trouble();
        this.calmFrom = setting.chaos();
    }

    void cutFor(long nanos) {
        world.counts.add(Happening.PARTITIONED);
        world.timeline.note(name, () -> "network cut for " + nanos / 1_000_000 + " ms");
        cutUntil = world.now() + nanos;
    }

    void toServer(World.Owner server, String what, Runnable arrive) {
        send(server, "→ " + what, arrive, Happening.REQUEST_DROPPED, true);
    }

    void toClient(World.Owner client, String what, Runnable arrive) {
        send(client, "← " + what, arrive, Happening.REPLY_DROPPED, false);
    }

    private void send(World.Owner to, String what, Runnable arrive, Happening dropped, boolean there) {
        boolean troubled = world.now() < calmFrom && world.dice.percent(trouble);
        boolean cut = world.now() < Math.min(cutUntil, calmFrom);
        if (cut || (troubled && world.dice.percent(40))) {
            world.counts.add(dropped);
            world.timeline.note(name, () -> what + " is lost");
            return;
        }
        deliver(to, what, arrive, delay(troubled), there);
        if (troubled && world.dice.percent(50)) {
            world.counts.add(Happening.DUPLICATED);
            world.timeline.note(name, () -> what + " is doubled");
            deliver(to, what, arrive, delay(true), there);
        }
    }

    private long delay(boolean troubled) {
        return troubled && world.dice.percent(50)
                ? world.dice.micros(LEAST_DELAY_MICROS, MOST_DELAY_MICROS)
                : world.dice.micros(LEAST_DELAY_MICROS, world.dice.percent(20) ? 20_000 : 1_000);
    }

    private void deliver(World.Owner to, String what, Runnable arrive, long delay, boolean there) {
        long last = there ? lastThere : lastBack;
        long at = world.now() + delay;
        if (at < last) {
            if (ordered) {
                at = last;
            } else {
                world.counts.add(Happening.OVERTAKEN);
            }
        }
        if (there) {
            lastThere = Math.max(at, last);
        } else {
            lastBack = Math.max(at, last);
        }
        world.at(at, to, () -> {
            world.timeline.note(name, () -> what);
            arrive.run();
        });
    }
}
