package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.server.Server;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All workloads on one store. Within a workload the peers take turns, round by round (A B C A B C), so that whatever else
 * the machine does meanwhile befalls all of them alike.
 */
public final class StoreRun {
    private final Server server;
    private final Plan plan;
    private final Path page;
    private final Results results;
    private final Progress progress;

    /** A run whose workers share the page, a file. */
    public StoreRun(Server server, Plan plan, Path page, Results results, Progress progress) {
        this.server = server;
        this.plan = plan;
        this.page = page;
        this.results = results;
        this.progress = progress;
    }

    /** The peers of a plan on a store, whether or not this machine has all they need. */
    public static List<PeerKind> peers(Plan plan, StoreKind store) {
        return Peers.on(store).stream().filter(plan::has).toList();
    }

    /** Runs all of them. */
    public void run() {
        results.setting(server.kind().title(), server.settings());
        List<Fleet> fleets = new ArrayList<>();
        try {
            for (PeerKind peer : peers(plan, server.kind())) {
                if (Holdfasts.hasStoreFor(peer, server)) {
                    fleets.add(new Fleet(peer, server, page));
                } else if (peer.id().equals(Peers.HOLDFAST)) {
                    results.leaveOut("Holdfast on " + server.kind().title() + ": it has no store for it yet");
                }
            }
            for (Workload workload : Workload.upTo(plan.tier())) {
                List<Fleet> able = fleets.stream()
                        .filter(fleet -> workload.suits(fleet.peer()))
                        .toList();
                if (workload.suits(server.kind()) && able.stream().anyMatch(StoreRun::isNoMeasure)) {
                    run(workload, able);
                }
            }
        } finally {
            fleets.forEach(Fleet::close);
        }
    }

    private static boolean isNoMeasure(Fleet fleet) {
        return fleet.peer().role() == Role.PEER || fleet.peer().role() == Role.HOLDFAST;
    }

    private void run(Workload workload, List<Fleet> fleets) {
        progress.begin(server.kind(), workload, fleets.size());
        Map<Fleet, List<Sample>> samples = new LinkedHashMap<>();
        Map<Fleet, String> failures = new LinkedHashMap<>();
        fleets.forEach(fleet -> samples.put(fleet, new ArrayList<>()));
        for (int round = 0; round <= plan.rounds(); round++) {
            for (Fleet fleet : fleets) {
                if (!failures.containsKey(fleet)) {
                    try {
                        Sample sample =
                                fleet.run(workload.loadOf(fleet.peer()), round == 0 ? plan.warmUp() : plan.round());
                        if (round > 0) {
                            samples.get(fleet).add(sample);
                        }
                    } catch (RoundFailed e) {
                        failures.put(fleet, e.reason());
                        progress.failed(e);
                    }
                }
            }
        }
        for (Fleet fleet : fleets) {
            Cell cell = new Cell(
                    server.kind(),
                    workload,
                    fleet.peer(),
                    samples.get(fleet),
                    Optional.ofNullable(failures.get(fleet)));
            results.add(cell);
        }
        progress.end(results.cells(server.kind(), workload.id()));
    }
}
