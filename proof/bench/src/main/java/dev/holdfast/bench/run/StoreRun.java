package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Workload.Jvm;
import dev.holdfast.bench.server.Server;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * All workloads on one store. Within a workload the peers take turns, round by round (A B C A B C), so that whatever else
 * the machine does meanwhile befalls all of them alike.
 */
public final class StoreRun {
    private final Server server;
    private final Plan plan;
    private final List<Workload> workloads;
    private final Path page;
    private final Results results;
    private final Progress progress;
    private final Optional<Duration> deadline;

    /**
     * A run of these workloads whose workers share the page, a file; at the deadline, counted as progress is, it leaves
     * out the rest.
     */
    public StoreRun(
            Server server,
            Plan plan,
            List<Workload> workloads,
            Path page,
            Results results,
            Progress progress,
            Optional<Duration> deadline) {
        this.server = server;
        this.plan = plan;
        this.workloads = workloads;
        this.page = page;
        this.results = results;
        this.progress = progress;
        this.deadline = deadline;
    }

    /** The peers of a plan on a store, whether or not this machine has all they need. */
    public static List<PeerKind> peers(Plan plan, StoreKind store) {
        return Peers.on(store).stream().filter(plan::has).toList();
    }

    /** Runs all of them. */
    public void run() {
        List<Fleet> fleets = new ArrayList<>();
        try {
            for (PeerKind peer : peers(plan, server.kind())) {
                if (Holdfasts.hasStoreFor(peer, server)) {
                    fleets.add(new Fleet(peer, server, page));
                } else if (peer.id().equals(Peers.HOLDFAST)) {
                    results.leaveOut("Holdfast on " + server.kind().title() + ": it has no store for it yet");
                }
            }
            for (Workload workload : workloads) {
                List<Fleet> able = fleets.stream()
                        .filter(fleet -> workload.suits(fleet.peer()))
                        .toList();
                if (!workload.suits(server.kind()) || able.stream().noneMatch(StoreRun::isOfInterest)) {
                    continue;
                }
                if (deadline.isPresent() && progress.elapsed().compareTo(deadline.get()) > 0) {
                    results.leaveOut(server.kind().title() + ", " + workload.title() + ": the time was up");
                } else {
                    run(workload, able);
                }
            }
        } finally {
            fleets.forEach(Fleet::close);
        }
    }

    private static boolean isOfInterest(Fleet fleet) {
        return fleet.peer().role() == Role.PEER || fleet.peer().role() == Role.HOLDFAST;
    }

    private void run(Workload workload, List<Fleet> fleets) {
        progress.begin(server.kind(), workload, fleets.size());
        List<Row> rows = fleets.stream().map(Row::new).toList();
        if (workload.jvm() == Jvm.WARM) {
            rows.forEach(row -> row.warmUp(workload));
        }
        for (int round = 0; round < plan.rounds(); round++) {
            for (Row row : rows) {
                row.round(workload);
            }
        }
        rows.forEach(row -> results.add(row.cell(workload)));
        progress.end(results.cells(server.kind(), workload.id()));
    }

    /** One peer's rounds of one workload; after a failure there are no more. */
    private final class Row {
        private final Fleet fleet;
        private final List<Sample> samples = new ArrayList<>();
        private @Nullable String failure;

        Row(Fleet fleet) {
            this.fleet = fleet;
        }

        void warmUp(Workload workload) {
            attempt(() -> {
                Load load = workload.loadOf(fleet.peer());
                if (!fleet.isWarmFor(load)) {
                    fleet.warmUp(load.saturatedOwn(), plan.ofNewJvms());
                }
                fleet.warmUp(load.saturated(), plan.ofKnownJvms());
            });
        }

        void round(Workload workload) {
            attempt(() -> {
                Load load = workload.loadOf(fleet.peer());
                Duration length = plan.roundOf(workload);
                if (workload.jvm() == Jvm.WARM) {
                    samples.add(fleet.run(load, length));
                } else {
                    try (Fleet fresh = new Fleet(fleet.peer(), server, page)) {
                        samples.add(fresh.run(load, length));
                    }
                }
            });
        }

        private void attempt(Runnable part) {
            if (failure != null) {
                return;
            }
            try {
                part.run();
            } catch (RoundFailed e) {
                failure = e.reason();
                progress.failed(e);
            }
        }

        Cell cell(Workload workload) {
            return new Cell(server.kind(), workload, fleet.peer(), samples, Optional.ofNullable(failure));
        }
    }
}
