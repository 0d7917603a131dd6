package dev.holdfast.tck.fuzz;

import dev.holdfast.tck.fuzz.Op.Verb;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One script, carried out on a store: sends each request, has each answer judged, and in the end lets everybody finish,
 * who then must be able to.
 *
 * <pre>
 *   History ──► Requests ──► Answers ──► NameModel   is it possible?
 *      │                        └──────► Beliefs     do those fit together who are sure to hold?
 *      ├──────► Looks                                status and list
 *      ├──────► Faults                               wire, server, clients that leave
 *      └──────► Settling                             does everybody get on?
 * </pre>
 */
final class History {
    /** How long a claim is given to get into the queue. */
    private static final long QUEUEING = TimeUnit.MILLISECONDS.toNanos(700);

    /** How long a client is given to clear up behind a release that was refused. */
    private static final long CLEARING = TimeUnit.SECONDS.toNanos(1);

    private final World world;
    private final Requests requests;
    private final Looks looks;
    private final Faults faults;
    private final Settling settling;
    private final Quiet quiet;
    private final Clock clock;
    private final Stored stored;
    private boolean bitten;

    History(StoreFuzz target, Script script, FuzzStats stats, @Nullable FuzzClient[] clients, String prefix) {
        world = new World(target, script, stats, clients, prefix);
        Beliefs beliefs = new Beliefs(world);
        Answers answers = new Answers(world, beliefs);
        requests = new Requests(world, answers, beliefs);
        looks = new Looks(world, answers);
        faults = new Faults(world);
        settling = new Settling(world, requests);
        quiet = new Quiet(world);
        clock = new Clock(world);
        stored = new Stored(world);
    }

    /** What a quiet one was answered, if that is exact. */
    Optional<Map<Integer, String>> answers() {
        return quiet.answers();
    }

    /** What happened, line by line. */
    List<String> log() {
        return world.log;
    }

    /** Whether the packet came by for which a fault lay in wait. */
    boolean hasBitten() {
        return bitten;
    }

    void run() throws Exception {
        try {
            play();
            if (world.script.quiet()) {
                quiet.end();
            }
            clock.end();
            settling.run();
        } finally {
            clock.reset();
            faults.giveUp();
        }
    }

    private void play() throws Exception {
        for (Op op : world.script.ops()) {
            world.log(op.toString());
            if (world.script.quiet() && !quiet.takes(op)) {
                continue;
            }
            world.stats.operations.increment();
            if (op.verb().isFault()) {
                faults.end(op); // one at a time
            }
            world.inbox.drain(); // a request that says what is known is sent before more is known
            begin(op);
            boolean waits = op.verb() == Verb.WAIT || faults.isPending();
            int most = waits ? Integer.MAX_VALUE : world.script.inFlight();
            world.inbox.await(() -> world.inFlight() < most, "an answer to " + op);
            if (!op.verb().isFault()) {
                faults.end(op);
            }
            if (world.script.quiet()) {
                quiet.after(op);
            }
            if (world.trouble == Script.Trouble.SERVER && op.verb().givesBack()) {
                world.target.keepReleases();
            }
            world.names.values().forEach(each -> world.stats.states(each.size()));
        }
        faults.end(new Op(0, Verb.PASS, 0, 0, "-", 0));
        bitten = faults.endForOnePacket();
    }

    private void begin(Op op) throws Exception {
        switch (op.verb()) {
            case PASS -> world.inbox.pass(op.millis());
            case CLOSE, KILL -> faults.leave(op);
            case DROP, HOLD, MUTE, DEAF, CUT, CLOG, LOSE, SEVER -> faults.onWire(op);
            case STOP -> faults.stop(op);
            case CRASH -> faults.crash();
            case CLOCK -> clock.set(op);
            case STATUS -> neutrally(op, () -> looks.status(op, world.client(op.client())));
            case LIST -> neutrally(op, () -> looks.list(op, world.client(op.client())));
            case TRY -> neutrally(op, () -> requests.claim(op));
            case WAIT -> join(op);
            case REVOKE, BREAK -> requests.breakGrant(op);
            default -> requests.withClaim(op, world.claimed.get(op.claim()));
        }
    }

    /** A claim that waits; one at a time, the next comes when this one is in the queue, as far as that can be seen. */
    private void join(Op op) throws Exception {
        boolean alone = world.script.inFlight() == 1 && !faults.isPending();
        world.client(op.client());
        Optional<String> before = alone ? world.target.fingerprint(world.prefix) : Optional.empty();
        requests.claim(op);
        long end = System.nanoTime() + QUEUEING;
        while (alone && System.nanoTime() < end && world.waits(world.claimed.get(op.claim()))) {
            world.inbox.pass(10);
            Optional<String> now = before.isEmpty() ? before : world.target.fingerprint(world.prefix);
            if (world.script.quiet() ? quiet.isQueued(op, now) : now.isEmpty() || !now.equals(before)) {
                return;
            }
        }
        quiet.isVague(op);
    }

    /** Runs a request that reads, or fails; it must leave everything as it was. */
    private void neutrally(Op op, Body body) throws Exception {
        boolean alone = world.trouble == Script.Trouble.NONE
                && !world.someoneLeft
                && System.nanoTime() > world.refusedAt + CLEARING
                && world.inFlight() == 0
                && world.all().noneMatch(world::waits);
        world.client(op.client());
        Optional<String> before = alone ? stored.settled() : Optional.empty();
        body.run();
        if (before.isEmpty()) {
            return;
        }
        world.awaitAnswers("an answer to " + op);
        Claimed mine = world.claimed.get(op.claim());
        if (op.verb() == Verb.TRY && mine != null && mine.grant != null) {
            return;
        }
        Optional<String> after = stored.settled();
        world.stats.reach("a read that changed nothing", after.isPresent());
        if (after.isPresent() && !after.equals(before)) {
            throw new Violation(op + " only reads, and changed what is stored from\n    " + before.get()
                    + "\n  to\n    " + after.get());
        }
    }

    private interface Body {
        void run() throws Exception;
    }
}
