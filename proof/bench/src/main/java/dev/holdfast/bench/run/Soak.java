package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.run.Load.Locks;
import dev.holdfast.bench.server.Server;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Holdfast at a service's pace for a long time: what grows? Names keep coming that were never used before, while others
 * are used all the time.
 */
public final class Soak {
    private static final int MOMENTS = 10;
    private static final Load LOAD =
            Load.one(2, 16).on(Locks.ZIPF).holding(Duration.ofMillis(2)).at(Pace.millis(0, 20));

    private final Server server;
    private final Path page;
    private final Results results;
    private final Progress progress;
    private final Duration length;

    /** A soak of that length on a server of its own; the page is a file that the workers map. */
    public Soak(Server server, Path page, Results results, Progress progress, Duration length) {
        this.server = server;
        this.page = page;
        this.results = results;
        this.progress = progress;
        this.length = length;
    }

    /** Runs it. */
    public void run() {
        progress.say("  %s: soak, %d s".formatted(server.kind().title(), length.toSeconds()));
        Duration slice = length.dividedBy(MOMENTS);
        try (Fleet fleet = new Fleet(Peers.of(Peers.HOLDFAST, server.kind()), server, page)) {
            for (int moment = 1; moment <= MOMENTS; moment++) {
                Sample sample = fleet.run(LOAD, slice);
                results.grow(new Growth(
                        server.kind(),
                        slice.multipliedBy(moment),
                        sample.perSecond(),
                        sample.waitAt(99),
                        fleet.heap(),
                        server.residue()));
                if (sample.overlaps() > 0) {
                    throw new AssertionError(sample.overlaps() + " holders saw another");
                }
            }
        } catch (RoundFailed | AssertionError e) {
            String reason = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            progress.say("    FAILED: " + reason);
            results.fail(server.kind().title() + ", soak: " + reason);
        }
    }
}
