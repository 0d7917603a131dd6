package dev.holdfast.tck.fuzz;

import dev.holdfast.tck.fuzz.Op.Verb;
import dev.holdfast.testbed.Clog;
import dev.holdfast.testbed.ServerProcess;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What goes wrong: on the wire of a client, with the server, and clients that leave. */
final class Faults {
    /** An offer to one that waits lasts no longer on any store. */
    private static final long OFFER = TimeUnit.SECONDS.toNanos(1);

    /** How long a fault is given to meet a packet. */
    private static final long BITE = TimeUnit.SECONDS.toNanos(2);

    /** From so many milliseconds on, those who wait must be told that the server does not answer. */
    private static final long LONG_STOP = 6_000;

    private final World world;
    private @Nullable Op fault;
    private @Nullable Op forOnePacket;
    private long begun;

    Faults(World world) {
        this.world = world;
    }

    boolean isPending() {
        return fault != null;
    }

    void onWire(Op op) throws Exception {
        world.client(op.client()).harm(op);
        begun = System.nanoTime();
        if (op.verb().isForOnePacket()) {
            forOnePacket = op;
        } else {
            fault = op;
        }
    }

    void stop(Op op) throws Exception {
        world.openAll(); // nobody gets in while it stands still
        world.stats.planned.increment();
        world.target.process().ifPresent(ServerProcess::stop);
        fault = op;
    }

    /** Lets a fault work on the request that was sent under it, and ends it. */
    void end(Op op) {
        Op ending = fault;
        if (ending == null) {
            return;
        }
        fault = null;
        if (ending.verb() == Verb.STOP) {
            endStop(ending);
        } else {
            endOnWire(ending);
        }
        world.inbox.await(() -> world.inFlight() < world.script.inFlight(), "an answer to " + op);
    }

    /** Ends what lay in wait for one packet; whether that came by. */
    boolean endForOnePacket() {
        Op ending = forOnePacket;
        FuzzClient client = ending == null ? null : world.present(ending.client());
        if (client == null) {
            return false;
        }
        boolean bit = client.hasBitten(ending);
        client.heal();
        return bit;
    }

    /** Whatever happened: a server that stands still would spoil the next history. */
    void giveUp() {
        if (fault != null && fault.verb() == Verb.STOP) {
            world.target.process().ifPresent(ServerProcess::cont);
        }
    }

    private void endOnWire(Op ending) {
        FuzzClient client = world.present(ending.client());
        if (client == null) {
            return;
        }
        boolean used = world.hasAsked(client, begun);
        long patience = System.nanoTime() + BITE;
        while (!client.hasBitten(ending) && System.nanoTime() < patience && world.isAsking(client, begun)) {
            world.inbox.pass(1);
        }
        boolean bit = client.hasBitten(ending);
        world.inbox.pass(ending.verb() == Verb.DROP || ending.verb() == Verb.CUT ? 0 : ending.millis());
        List<Clog> clogs = client.clogs(ending).toList();
        clogs.forEach(clog -> {
            clog.free();
            world.inbox.pass(1);
        });
        client.heal();
        world.stats.reach("several connections are clogged, and freed in another order", bit && clogs.size() > 1);
        if (used && (bit || client.hasSpoken())) {
            world.stats.planned.increment();
            world.stats.bitten.add(bit ? 1 : 0);
            world.log("  the fault " + (bit ? "bit" : "did not bite"));
        }
    }

    private void endStop(Op ending) {
        long stopped = System.nanoTime();
        world.serverFailedAt = stopped;
        // A client whose clock runs at half the rate also asks half as often.
        List<Claimed> waiting = world.all()
                .filter(world::waits)
                .filter(each -> each.owner.time.isCovered())
                .toList();
        boolean isLong = ending.millis() >= LONG_STOP;
        long word = world.target.wordOfAnOutage().toMillis();
        try {
            world.inbox.pass(isLong ? Math.max(word, ending.millis()) : ending.millis());
        } finally {
            world.target.process().ifPresent(ServerProcess::cont); // also when an answer breaks a rule
        }
        world.stats.bitten.increment();
        for (Claimed each : waiting) {
            if (isLong && world.waits(each) && !each.owner.knowsOfOutage(stopped)) {
                throw new Violation("the server stood still for " + word + " ms, and the listener of #" + each.label
                        + ", which waited, was not told");
            }
        }
    }

    void crash() {
        ServerProcess server = world.target.process().orElse(null);
        if (server == null) {
            return;
        }
        world.stats.planned.increment();
        world.stats.bitten.increment();
        world.serverFailedAt = System.nanoTime();
        server.kill();
        restart(server);
        if (world.target.isSessionBound()) {
            long latest = System.nanoTime() + world.target.passesTheDead().toNanos();
            world.names
                    .values()
                    .forEach(model -> model.sessionEnds(
                            label -> world.claimed.containsKey(label) && !world.isAlive(world.claimed.get(label).owner),
                            System.nanoTime(),
                            latest));
        }
    }

    /** Some servers will not start while the rest of them is still dying. */
    private static void restart(ServerProcess server) {
        for (int tries = 1; ; tries++) {
            try {
                server.restart();
                return;
            } catch (AssertionError e) {
                if (tries == 5) {
                    throw new IllegalStateException("the server does not start again", e);
                }
            }
        }
    }

    /** A client closes, or dies. */
    void leave(Op op) {
        FuzzClient client = world.present(op.client());
        if (client == null) {
            return;
        }
        world.inbox.drain();
        world.remove(op.client());
        world.someoneLeft = true;
        long now = System.nanoTime();
        long latest = now + world.target.passesTheDead().toNanos();
        for (NameModel model : world.names.values()) {
            model.open.values().stream()
                    .filter(call -> !call.isLost() && world.claimed.containsKey(call.claim))
                    .filter(call -> world.claimed.get(call.claim).owner == client)
                    .forEach(call -> model.lost(call, Math.max(latest, placeEnds(call, now))));
            if (world.target.isSessionBound()) {
                model.sessionEnds(label -> isOf(label, client), System.nanoTime(), latest);
            }
        }
        if (op.verb() == Verb.KILL) {
            client.kill();
        } else {
            client.close();
        }
    }

    /** A store may keep the place of one that waits for as long as the lease that it asked for, and offer it the lock then. */
    private static long placeEnds(Call call, long now) {
        return call.kind == Call.Kind.WAIT && !call.endless ? call.end(now) + OFFER : now;
    }

    private boolean isOf(int label, FuzzClient client) {
        Claimed mine = world.claimed.get(label < 0 ? -label - 1 : label);
        return mine != null && mine.owner == client;
    }
}
