package dev.holdfast.bench;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Environment;
import dev.holdfast.bench.run.Figures;
import dev.holdfast.bench.run.Holdfasts;
import dev.holdfast.bench.run.Outages;
import dev.holdfast.bench.run.Plan;
import dev.holdfast.bench.run.Progress;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.Soak;
import dev.holdfast.bench.run.StoreRun;
import dev.holdfast.bench.run.Workload;
import dev.holdfast.bench.run.Workload.Tier;
import dev.holdfast.bench.server.Server;
import dev.holdfast.bench.server.Servers;
import dev.holdfast.testbed.ServerMissingException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Measures what was selected, store by store. */
final class Run {
    private final Plan plan;
    private final Selection selection;
    private final Duration soak;
    private final Results results = new Results();
    private final Progress progress;

    Run(Plan plan, Selection selection, Duration soak) {
        this.plan = plan;
        this.selection = selection;
        this.soak = soak;
        this.progress = new Progress(System.err, plan, rows());
    }

    Results results() {
        return results;
    }

    Progress progress() {
        return progress;
    }

    /** Measures in a folder for scratch. */
    void measure(Path folder) {
        Environment.describe(results, plan);
        progress.say("About " + minutes(progress.expected().plus(beside())) + " in all, " + plan);
        List<StoreKind> stores = selection.stores();
        for (int i = 0; i < stores.size(); i++) {
            int share = i + 1;
            Optional<Duration> deadline =
                    plan.budget().map(budget -> budget.multipliedBy(share).dividedBy(stores.size()));
            measure(stores.get(i), folder.resolve("page"), deadline);
        }
    }

    private void measure(StoreKind store, Path page, Optional<Duration> deadline) {
        boolean shared = store != StoreKind.MEMORY;
        on(store, !selection.workloads().isEmpty() || selection.figures(), server -> {
            new StoreRun(server, plan, selection.workloads(), page, results, progress, deadline).run();
            if (shared && selection.figures() && hasHoldfast(store, server)) {
                new Figures(server, page, results, progress, plan.tier() == Tier.FULL).measure();
            }
        });
        on(store, shared && selection.outages(), server -> new Outages(server, results, progress).measure());
        on(store, shared && selection.soak(), server -> new Soak(server, page, results, progress, soak).run());
    }

    /** On a server that has seen nothing else. */
    private void on(StoreKind store, boolean wanted, Consumer<Server> part) {
        if (!wanted) {
            return;
        }
        try (Server server = Servers.start(store)) {
            results.setting(store.title(), server.settings());
            part.accept(server);
        } catch (ServerMissingException e) {
            progress.say(store.title() + ": " + e.getMessage());
            results.leaveOut(store.title() + ": " + e.getMessage());
        }
    }

    private static boolean hasHoldfast(StoreKind store, Server server) {
        return Holdfasts.hasStoreFor(Peers.of(Peers.HOLDFAST, store), server);
    }

    /** About how long all rows take. */
    private Duration rows() {
        Duration all = Duration.ZERO;
        for (StoreKind store : selection.stores()) {
            for (PeerKind peer : StoreRun.peers(plan, store)) {
                for (Workload workload : selection.workloads()) {
                    if (workload.suits(store) && workload.suits(peer)) {
                        all = all.plus(plan.ofOneCell(workload));
                    }
                }
            }
        }
        return all;
    }

    /** About how long everything else takes. */
    private Duration beside() {
        Duration ofAStore = Duration.ZERO;
        if (selection.figures()) {
            ofAStore = ofAStore.plus(Figures.expected(plan.tier() == Tier.FULL));
        }
        if (selection.outages()) {
            ofAStore = ofAStore.plus(Outages.expected());
        }
        if (selection.soak()) {
            ofAStore = ofAStore.plus(soak);
        }
        return ofAStore.multipliedBy(selection.stores().size());
    }

    private static String minutes(Duration time) {
        return Math.max(1, time.plusSeconds(30).toMinutes()) + " min";
    }
}
