package dev.holdfast.challenge;

import dev.holdfast.bench.TemporaryFolder;
import dev.holdfast.challenge.fault.Fault;
import dev.holdfast.challenge.fault.Faults;
import dev.holdfast.challenge.lock.Arbiter;
import dev.holdfast.challenge.lock.LockKind;
import dev.holdfast.challenge.lock.LockKind.Role;
import dev.holdfast.challenge.lock.Locks;
import dev.holdfast.challenge.report.Results;
import dev.holdfast.challenge.store.StoreKind;
import dev.holdfast.challenge.store.Target;
import dev.holdfast.challenge.workload.Workload;
import dev.holdfast.challenge.workload.Workloads;
import dev.holdfast.testbed.ServerMissingException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** All heats of one store, with servers and workers of its own. */
final class StoreRun implements Runnable {
    private final StoreKind store;
    private final Plan plan;
    private final Results results;
    private final Path folder;

    StoreRun(StoreKind store, Plan plan, Results results, Path folder) {
        this.store = store;
        this.plan = plan;
        this.results = results;
        this.folder = folder;
    }

    @Override
    public void run() {
        long round = 0;
        try {
            do {
                for (List<Fault> faults : faultsOfEachStart()) {
                    attack(faults, plan.seed() + round);
                }
                round++;
            } while (plan.goesOn());
        } catch (ServerMissingException missing) {
            results.notTested(store.id(), String.valueOf(missing.getMessage()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The faults for which there is something to attack; those that use the store up come last, each with a start of its own. */
    private List<List<Fault>> faultsOfEachStart() {
        List<List<Fault>> starts = new ArrayList<>();
        List<Fault> lasting = new ArrayList<>();
        for (Fault fault : Faults.ALL) {
            boolean isWanted = fault.fits(store)
                    && !entries(fault).stream().allMatch(entry -> entry.lock().isControl());
            if (isWanted && fault.usesUp()) {
                starts.add(List.of(fault));
            } else if (isWanted) {
                lasting.add(fault);
            }
        }
        if (!lasting.isEmpty()) {
            starts.add(0, lasting);
        }
        return starts;
    }

    private void attack(List<Fault> faults, long seed) throws IOException {
        Path place = Files.createTempDirectory(Files.createDirectories(folder), "start");
        try (Target target = store.start();
                Arbiter arbiter = new Arbiter();
                Crew crew = new Crew(target, store.isProxied(), place.resolve("stage"))) {
            results.setting(store.id(), target.settings());
            for (Fault fault : faults) {
                List<Heat.Entry> entries = new ArrayList<>(entries(fault));
                int times = plan.times();
                if (fault.usesUp() && times > 1) {
                    times = 1; // then several of each lock, in place of several times
                    entries.addAll(entries(fault));
                    entries.addAll(entries(fault));
                }
                new Heat(store.id(), target, fault, entries, crew, arbiter, place, seed)
                        .run(times)
                        .forEach(results::add);
            }
        }
        TemporaryFolder.delete(place);
    }

    private List<Heat.Entry> entries(Fault fault) {
        return Locks.on(store.id()).stream()
                .flatMap(lock -> Workloads.ALL.stream()
                        .filter(workload -> lock.workloads().contains(workload.id()))
                        .filter(fault::fits)
                        .filter(workload -> isIn(fault, lock, workload))
                        .map(workload -> new Heat.Entry(lock, workload)))
                .toList();
    }

    private boolean isIn(Fault fault, LockKind lock, Workload workload) {
        return switch (lock.role()) {
            case WRONG -> lock.isCaughtUnder(fault.id());
            case RIGHT -> true;
            case PEER, HOLDFAST ->
                (plan.hasPeers() || lock.role() == Role.HOLDFAST)
                        && plan.selects(String.join("/", store.id(), lock.id(), workload.id(), fault.id()));
        };
    }

    /** Whether there is anything to attack. */
    static boolean hasCells(StoreKind store, Plan plan) {
        return !new StoreRun(store, plan, new Results(), Path.of(""))
                .faultsOfEachStart()
                .isEmpty();
    }
}
