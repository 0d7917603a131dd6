package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.server.Server;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.TcpProxy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The worker processes of one peer on one store. They live, and keep their clients, over all its rounds; a round in which
 * one of them fails, dies or hangs fails with {@link RoundFailed}, and the next begins with new ones.
 */
public final class Fleet implements AutoCloseable {
    /** What every worker runs with, as the settings of a report say. */
    public static final List<String> FLAGS =
            List.of("-Xms64m", "-Xmx512m", "-XX:TieredStopAtLevel=4", "--enable-native-access=ALL-UNNAMED");

    /** How long connecting may take, and the last waits after the end of a round. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Duration DEATH = Duration.ofSeconds(3);
    private static final long HEAD_START_NANOS = 30_000_000;

    private static final double NANOS_PER_SECOND = 1e9;

    private final PeerKind peer;
    private final Server server;
    private final Path page;
    private final List<ChildProcess> workers = new ArrayList<>();
    private final Map<Duration, TcpProxy> proxies = new HashMap<>();
    private int warm;

    /** Workers of a peer; the page is a file that all of them map. */
    public Fleet(PeerKind peer, Server server, Path page) {
        this.peer = peer;
        this.server = server;
        this.page = page;
    }

    /** The peer. */
    public PeerKind peer() {
        return peer;
    }

    /**
     * Runs one round.
     *
     * @throws RoundFailed when a worker fails, dies or hangs
     */
    public Sample run(Load load, Duration length) {
        try {
            Sample sample = round(load, length);
            warm = Math.max(warm, load.team());
            return sample;
        } catch (RoundFailed e) {
            close();
            throw e.of(peer.id());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs such rounds, which count for nothing, until the workers are warm. */
    void warmUp(Load load, WarmUp goal) {
        Duration elapsed = Duration.ZERO;
        double turns = 0;
        Sample slice;
        do {
            slice = run(load, goal.slice());
            elapsed = elapsed.plus(goal.slice());
            turns += slice.perSecond() * goal.slice().toNanos() / NANOS_PER_SECOND;
        } while (!goal.isDone(elapsed, (long) turns, slice.compiling()));
    }

    /** Whether all workers that take part have run a round before; a JVM that has just begun is slow at first. */
    boolean isWarmFor(Load load) {
        return warm >= load.team();
    }

    /** The bytes of heap that the workers use after a collection. */
    double heap() {
        double sum = 0;
        for (ChildProcess worker : workers) {
            tell(worker, Errand.heap().toLine());
            sum += Double.parseDouble(answer(worker, Worker.RESULT, Duration.ZERO));
        }
        return sum;
    }

    /** The processes themselves, for tests that end one of them. */
    List<ChildProcess> workers() {
        return workers;
    }

    private Sample round(Load load, Duration length) throws IOException {
        while (workers.size() < load.team()) {
            workers.add(ChildJvm.main(Worker.class)
                    .flags(FLAGS.toArray(String[]::new))
                    .start());
        }
        List<ChildProcess> team = workers.subList(0, load.team());
        SharedPage counter = new SharedPage(page);
        counter.nobodyHolds();
        for (int i = 0; i < team.size(); i++) {
            tell(team.get(i), orders(load, length, i).toLine());
        }
        for (ChildProcess worker : team) {
            answer(worker, Worker.READY, Duration.ZERO);
        }
        long counted = counter.counter();
        Map<String, Double> counters = server.counters();
        Duration cpu = server.cpuTime();
        String start = Long.toString(System.nanoTime() + HEAD_START_NANOS);
        team.forEach(worker -> tell(worker, start));
        Tally tally = Tally.empty();
        for (ChildProcess worker : team) {
            tally = tally.plus(Tally.parse(answer(worker, Worker.RESULT, length)));
        }
        return Sample.of(
                tally,
                load,
                length.toNanos(),
                counter.counter() - counted,
                server.cpuTime().minus(cpu).toNanos(),
                difference(counters, server.counters(), tally));
    }

    private Orders orders(Load load, Duration length, int worker) {
        return new Orders(
                peer.id(), server.kind(), url(load.roundTrip()), worker, load, length.toNanos(), page.toString());
    }

    private String url(Duration roundTrip) {
        if (roundTrip.isZero() || server.port().isEmpty()) {
            return server.url();
        }
        TcpProxy proxy = proxies.computeIfAbsent(roundTrip, time -> {
            TcpProxy slow = TcpProxy.to(server.port().orElseThrow());
            slow.toServer().delay(time.dividedBy(2));
            slow.toClient().delay(time.dividedBy(2));
            return slow;
        });
        return server.urlThrough(proxy.port());
    }

    private Map<String, Double> difference(Map<String, Double> before, Map<String, Double> after, Tally tally) {
        Map<String, Double> difference = new HashMap<>();
        after.forEach((name, count) -> difference.put(name, count - before.getOrDefault(name, 0.0)));
        if (server.kind() == StoreKind.SQLITE) {
            difference.put("bytes written", (double) tally.count(Count.WRITTEN));
        }
        return difference;
    }

    private static void tell(ChildProcess worker, String line) {
        try {
            worker.send(line);
        } catch (AssertionError e) {
            throw explained(worker, e);
        }
    }

    /** The next line of a worker that begins as wanted, without that beginning. */
    static String answer(ChildProcess worker, String wanted, Duration length) {
        String line;
        try {
            line = worker.expect(
                    said -> said.startsWith(wanted) || said.startsWith(Worker.FAILED), length.plus(PATIENCE));
        } catch (AssertionError e) {
            throw explained(worker, e);
        }
        if (line.startsWith(Worker.FAILED)) {
            throw new RoundFailed(line.substring(Worker.FAILED.length()), List.of(worker), null);
        }
        return line.substring(wanted.length());
    }

    /** A worker that says nothing more is dead, or is dying, or hangs. */
    private static RoundFailed explained(ChildProcess worker, AssertionError silence) {
        String what = "worker process " + worker.pid();
        try {
            what += " ended with " + worker.waitFor(DEATH);
        } catch (AssertionError e) {
            what += " did not answer";
        }
        return new RoundFailed(what, List.of(worker), silence);
    }

    /** Ends the workers; the next round would begin with new ones. */
    @Override
    public void close() {
        workers.forEach(ChildProcess::close);
        workers.clear();
        warm = 0;
        proxies.values().forEach(TcpProxy::close);
        proxies.clear();
    }
}
