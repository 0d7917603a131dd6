package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Errand.Task;
import dev.holdfast.bench.server.Server;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What Holdfast costs on a store beyond the rounds: keeping holds, waiting, names that were used once. Each in worker
 * processes of its own; what fails is told and left out.
 */
public final class Figures {
    /** The share of a core that 10,000 renewed holds take. */
    public static final String KEEPING = "keeping";

    /** The share of a core that 100,000 renewed holds take. */
    public static final String KEEPING_MANY = "keeping-many";

    /** By how many bytes the heap grew for them. */
    public static final String HEAP_OF_MANY = "heap-of-many";

    /** The share of a core that a process takes that only waits, while others take turns in the same store. */
    public static final String WAITING = "waiting";

    /** By how many bytes the heap grew over many names used once. */
    public static final String HEAP_GROWTH = "heap-growth";

    /** How many names that were. */
    public static final String NAMES = "names";

    /** What the store kept of them: the name of its residue follows. */
    public static final String LEFT = "left-";

    /** How many keys are left of them a minute later, where the store has keys. */
    public static final String KEYS_LATER = "keys-a-minute-later";

    private static final String KEYS = "keys";
    private static final Duration LATER = Duration.ofMinutes(1);
    private static final int HOLDS = 10_000;
    private static final int MANY_HOLDS = 100_000;
    private static final int MOST_NAMES = 100_000;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Server server;
    private final Path page;
    private final Results results;
    private final Progress progress;
    private final boolean full;

    /** Figures of a store; a full run takes its time. */
    public Figures(Server server, Path page, Results results, Progress progress, boolean full) {
        this.server = server;
        this.page = page;
        this.results = results;
        this.progress = progress;
        this.full = full;
    }

    /** How figures are named in {@link Results#figure(String)}. */
    public static String on(StoreKind store, String figure) {
        return figure + "@" + store.id();
    }

    /** About how long it takes on a store. */
    public static Duration expected(boolean full) {
        return Duration.ofSeconds(full ? 360 : 120);
    }

    /** Measures them all. */
    public void measure() {
        progress.say(
                "  " + server.kind().title() + ": 10,000 renewed holds, a process that only waits, names used once");
        Map<String, Double> before = server.residue();
        attempt("renewed holds", this::keep);
        attempt("waiting", this::await);
        attempt("names", () -> names(before));
    }

    private void keep() {
        note(KEEPING, keep(HOLDS).get(0));
        if (server.kind() == StoreKind.REDIS) { // elsewhere so many are taken too slowly
            List<Double> answer = keep(MANY_HOLDS);
            note(KEEPING_MANY, answer.get(0));
            note(HEAP_OF_MANY, answer.get(2));
        }
    }

    private List<Double> keep(int holds) {
        Duration length = Duration.ofSeconds(full ? 60 : 20);
        List<Double> answer = errand(new Errand(Task.KEEP, server.url(), holds, length, length));
        if (answer.get(1) != holds) {
            throw new AssertionError("only " + answer.get(1) + " of " + holds + " holds were still valid");
        }
        return answer;
    }

    /** One holds, one waits; two more take turns on another lock, so that the store has news all the time. */
    private void await() {
        Duration settle = Duration.ofSeconds(full ? 20 : 8);
        Duration length = Duration.ofSeconds(full ? 20 : 8);
        PeerKind holdfast = Peers.of(Peers.HOLDFAST, server.kind());
        try (ChildProcess holder = worker();
                ChildProcess waiter = worker();
                Fleet others = new Fleet(holdfast, server, page)) {
            holder.send(new Errand(Task.HOLD, server.url(), 1, settle, length.plusSeconds(5)).toLine());
            holder.expect(Worker.READY, PATIENCE);
            waiter.send(new Errand(Task.WAIT, server.url(), 1, settle, length).toLine());
            Load turns = Load.one(2, 1).holding(Duration.ofMillis(10));
            double unused = others.run(turns, settle.plus(length)).perSecond();
            note(WAITING, answer(waiter).get(0));
        }
    }

    private void names(Map<String, Double> before) {
        List<Double> answer = errand(
                new Errand(Task.NAMES, server.url(), MOST_NAMES, Duration.ZERO, Duration.ofSeconds(full ? 120 : 15)));
        note(HEAP_GROWTH, answer.get(1) - answer.get(0));
        note(NAMES, answer.get(2));
        server.residue().forEach((name, value) -> note(LEFT + name, value - before.getOrDefault(name, 0.0)));
        if (before.containsKey(KEYS)) {
            Schedule.pause(LATER);
            note(KEYS_LATER, server.residue().getOrDefault(KEYS, 0.0) - before.getOrDefault(KEYS, 0.0));
        }
    }

    private void note(String figure, double value) {
        if (!Double.isNaN(value)) {
            results.figure(on(server.kind(), figure), value);
        }
    }

    private void attempt(String what, Runnable measure) {
        try {
            measure.run();
        } catch (RoundFailed | AssertionError e) {
            String reason = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            progress.say("    FAILED: " + what + ": " + reason);
            results.leaveOut(server.kind().title() + ", " + what + ": FAILED: " + reason);
        }
    }

    private static List<Double> errand(Errand errand) {
        try (ChildProcess worker = worker()) {
            worker.send(errand.toLine());
            return answer(worker);
        }
    }

    private static ChildProcess worker() {
        return ChildJvm.main(Worker.class)
                .flags(Fleet.FLAGS.toArray(String[]::new))
                .start();
    }

    private static List<Double> answer(ChildProcess worker) {
        String line = Fleet.answer(worker, Worker.RESULT, PATIENCE.multipliedBy(3));
        return Stream.of(line.split(" ")).map(Double::valueOf).toList();
    }
}
