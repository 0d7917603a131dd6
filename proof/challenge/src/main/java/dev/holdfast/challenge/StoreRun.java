package dev.holdfast.challenge;

import dev.holdfast.challenge.fault.Fault;
import dev.holdfast.challenge.fault.Faults;
import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.lock.LockKind;
import dev.holdfast.challenge.lock.LockKind.Role;
import dev.holdfast.challenge.lock.Locks;
import dev.holdfast.challenge.report.Results;
import dev.holdfast.challenge.store.StoreKind;
import dev.holdfast.challenge.workload.Workloads;
import dev.holdfast.testbed.ServerMissingException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * All heats of one store, with servers and workers of its own. The locks of this library and those of others, whose leases
 * are long, have heats of their own; controls run in both.
 */
final class StoreRun implements Runnable {
    private final StoreKind store;
    private final Plan plan;
    private final Results results;
    private final Path folder;
    private final Runnable heatIsOver;
    private @Nullable Start start;

    /**
     * One heat to come.
     *
     * @param start which of the starts of a fault that uses the store up, from 0
     */
    private record Attack(Fault fault, Role side, List<Heat.Entry> entries, int times, int start) {}

    /**
     * Of one store.
     *
     * @param heatIsOver what is done after each heat
     */
    StoreRun(StoreKind store, Plan plan, Results results, Path folder, Runnable heatIsOver) {
        this.store = store;
        this.plan = plan;
        this.results = results;
        this.folder = folder;
        this.heatIsOver = heatIsOver;
    }

    /** Whether there is anything to attack. */
    static boolean hasCells(StoreKind store, Plan plan) {
        return !new StoreRun(store, plan, new Results(), Path.of(""), () -> {})
                .attacks()
                .isEmpty();
    }

    @Override
    public void run() {
        long round = 0;
        try {
            do {
                for (Attack attack : attacks()) {
                    if (!results.isInterrupted()) {
                        make(attack, plan.seed() + round + attack.start());
                    }
                }
                round++;
            } while (plan.goesOn() && !results.isInterrupted());
        } catch (ServerMissingException missing) {
            results.notTested(store.id(), String.valueOf(missing.getMessage()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            end();
        }
    }

    /** Those that use the store up come last. */
    private List<Attack> attacks() {
        List<Attack> all = new ArrayList<>();
        for (Fault fault : Faults.ALL) {
            if (fault.fits(store) && (fault.isQuick() || !plan.isQuick())) {
                List<Heat.Entry> ours = entries(fault, Role.HOLDFAST);
                List<Heat.Entry> peers = plan.isQuick() ? List.of() : entries(fault, Role.PEER);
                if (!ours.isEmpty()) {
                    all.addAll(attacks(fault, Role.HOLDFAST, ours, plan.forHoldfast(fault, ours.size())));
                }
                if (!peers.isEmpty()) {
                    all.addAll(attacks(fault, Role.PEER, peers, plan.forPeers(fault)));
                }
            }
        }
        if (!all.isEmpty() && all.stream().noneMatch(attack -> attack.fault() == Faults.STEADY)) {
            // With the wrong locks that show of most checks that they can find a fault; each is to be caught once.
            all.addAll(0, attacks(Faults.STEADY, Role.HOLDFAST, List.of(), new Plan.Effort(1, 1)));
        }
        return all;
    }

    private List<Attack> attacks(Fault fault, Role side, List<Heat.Entry> kinds, Plan.Effort effort) {
        List<Heat.Entry> entries = new ArrayList<>();
        for (int i = 0; i < effort.alike(); i++) {
            entries.addAll(kinds);
        }
        // A wrong lock is to be caught once.
        entries.addAll(entries(fault, Role.RIGHT));
        entries.addAll(side == Role.HOLDFAST || !hasOurs(fault) ? entries(fault, Role.WRONG) : List.of());
        int starts = fault.usesUp() ? effort.times() : 1;
        return IntStream.range(0, starts)
                .mapToObj(number -> new Attack(fault, side, entries, effort.times() / starts, number))
                .toList();
    }

    private boolean hasOurs(Fault fault) {
        return !entries(fault, Role.HOLDFAST).isEmpty();
    }

    private List<Heat.Entry> entries(Fault fault, Role role) {
        return Locks.on(store.id()).stream()
                .filter(lock -> lock.role() == role)
                .filter(lock -> role == Role.RIGHT || fault.fits(lock))
                .filter(lock -> role != Role.WRONG || lock.isCaughtUnder(fault.id()))
                .flatMap(lock -> Workloads.ALL.stream()
                        .filter(workload -> lock.workloads().contains(workload.id()))
                        .filter(fault::fits)
                        .filter(workload -> lock.isControl() || isSelected(lock, workload.id(), fault))
                        .map(workload -> new Heat.Entry(lock, workload)))
                .toList();
    }

    private boolean isSelected(LockKind lock, String workload, Fault fault) {
        return plan.selects(String.join("/", store.id(), lock.id(), workload, fault.id()));
    }

    private void make(Attack attack, long seed) throws IOException {
        Start on = start != null ? start : begin();
        Heat heat = new Heat(store.id(), on, attack.fault(), attack.entries(), seed, plan.isQuick());
        String what = store.id() + "/*/*/" + attack.fault().id();
        Optional<String> impossible = attack.fault().impossible(heat);
        if (impossible.isPresent()) {
            results.notTested(what, impossible.get());
            return;
        }
        try {
            List<LaneHistory> histories = heat.run(attack.times());
            histories.forEach(results::add);
            if (!heat.unseen().isEmpty()) {
                results.failed(what + ": the store does not show locks that a worker holds, so it proves nothing that"
                        + " it shows none at the end: " + String.join(", ", heat.unseen()));
            }
            heat.notLookedInto().forEach(why -> results.notTested(what + ", connections and open files left", why));
            if (!plan.isQuick()) {
                System.out.println(results.progress(attack.fault().id(), histories));
            }
            heatIsOver.run();
        } catch (RuntimeException | AssertionError broken) {
            brokeDown(attack, what, broken);
            end();
        }
        if (attack.fault().usesUp()) {
            end();
        }
    }

    /** A peer that cannot be used after a fault is no fault of the others. */
    private void brokeDown(Attack attack, String what, Throwable broken) {
        if (results.isInterrupted()) {
            return; // its processes were ended
        }
        if (attack.side() == Role.PEER) {
            results.notTested(what + " of other libraries", "the heat broke down: " + broken.getMessage());
        } else {
            results.failed(what + " broke down: " + broken.getMessage());
        }
        if (!plan.isQuick()) {
            broken.printStackTrace();
        }
    }

    private Start begin() throws IOException {
        Start begun = new Start(store, folder, !plan.isQuick());
        results.setting(store.id(), begun.target.settings());
        start = begun;
        return begun;
    }

    private void end() {
        Start ended = start;
        start = null;
        if (ended != null) {
            ended.close();
        }
    }
}
