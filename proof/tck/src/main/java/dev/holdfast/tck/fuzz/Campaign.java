package dev.holdfast.tck.fuzz;

import dev.holdfast.tck.fuzz.Script.Trouble;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Seed after seed for a while, with a line of progress each minute: first by several workers on a server that is well,
 * every fourth history on a bad wire; then by one, who stops and kills the server.
 */
final class Campaign {
    /** What a run of many histories must have met. */
    static final List<String> RACES = List.of(
            "a renewal crosses a release",
            "a renewal finds the lease over",
            "a repeated claim keeps its number",
            "an offer is refused by a claim that was cancelled");

    /** After every so many seeds a history is played twice, with its reads and without. */
    private static final int QUIET = Integer.getInteger("holdfast.fuzz.quiet", 6);

    private static final Duration REPORT = Duration.ofMinutes(1);

    private final StoreFuzz target;
    private final Player player;
    private final FuzzStats stats;
    private final AtomicLong seeds = new AtomicLong(Long.getLong("holdfast.fuzz.seed", 1));
    private final AtomicReference<@Nullable String> failed = new AtomicReference<>();

    Campaign(StoreFuzz target, Player player, FuzzStats stats) {
        this.target = target;
        this.player = player;
        this.stats = stats;
    }

    void run() throws Exception {
        long time =
                Duration.ofSeconds(Long.getLong("holdfast.fuzz.seconds", 12)).toNanos();
        long end = System.nanoTime() + time;
        if (StoreFuzz.setsClocks() && target.clock().isPresent()) {
            fuzz(end, 1, Trouble.CLOCK);
            return;
        }
        boolean servers = target.process().isPresent() && StoreFuzz.allows(Trouble.SERVER);
        if (StoreFuzz.allows(Trouble.NONE) || StoreFuzz.allows(Trouble.WIRE)) {
            fuzz(servers ? end - time / 3 : end, Integer.getInteger("holdfast.fuzz.workers", 4), Trouble.NONE);
        }
        if (servers) {
            fuzz(end, 1, Trouble.SERVER);
        }
    }

    /** With that trouble; with none, the wire is bad now and then. */
    private void fuzz(long end, int workers, Trouble kind) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(workers);
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            running.add(threads.submit(() -> work(end, kind)));
        }
        long report = System.nanoTime() + REPORT.toNanos();
        for (Future<?> each : running) {
            while (!each.isDone()) {
                Thread.sleep(50);
                if (System.nanoTime() > report) {
                    report += REPORT.toNanos();
                    System.out.println(target.getClass().getSimpleName() + ", seed " + seeds + ": " + stats);
                }
            }
            each.get();
        }
        threads.shutdown();
        String story = failed.get();
        if (story != null) {
            throw new AssertionError(story);
        }
    }

    private @Nullable Void work(long end, Trouble kind) throws Exception {
        try (Player.Clients clients = new Player.Clients()) {
            while (System.nanoTime() < end && failed.get() == null) {
                long seed = seeds.getAndIncrement();
                Script script = Script.generate(seed, kind == Trouble.NONE ? trouble(seed) : kind);
                Broken found = player.play(script, clients);
                if (found == null
                        && kind == Trouble.NONE
                        && seed % QUIET == 0
                        && target.staysAfterItsLease().isZero()
                        && StoreFuzz.allows(Trouble.NONE)) {
                    found = player.play(Script.quiet(seed), clients);
                }
                if (found != null && failed.compareAndSet(null, "seed " + seed + " breaks a rule: " + found.rule())) {
                    failed.set(player.story(found, "seed " + seed));
                }
            }
        }
        return null;
    }

    private Trouble trouble(long seed) {
        boolean wire = target.port().isPresent() && StoreFuzz.allows(Trouble.WIRE);
        return wire && (seed % 4 == 0 || !StoreFuzz.allows(Trouble.NONE)) ? Trouble.WIRE : Trouble.NONE;
    }
}
