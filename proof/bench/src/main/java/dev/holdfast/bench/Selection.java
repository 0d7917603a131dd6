package dev.holdfast.bench;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Plan;
import dev.holdfast.bench.run.Workload;
import dev.holdfast.bench.run.Workload.Tier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a run measures.
 *
 * @param stores on which stores
 * @param workloads which tables
 * @param outages whether the time without service
 * @param soak whether what grows over a long time
 * @param figures whether all figures beside the tables
 * @param whole whether it leaves out nothing of its stores, so that its report may be their page
 */
record Selection(
        List<StoreKind> stores,
        List<Workload> workloads,
        boolean outages,
        boolean soak,
        boolean figures,
        boolean whole) {
    static final String OUTAGES = "outages";
    static final String SOAK = "soak";

    /** Renewed holds, a process that only waits, names used once. */
    static final String FIGURES = "figures";

    private static final List<String> BESIDE_WORKLOADS = List.of(OUTAGES, SOAK, FIGURES);

    /** A word that stands for several workloads. */
    static final String SERVICE = "service";

    /**
     * Reads the words of the command line.
     *
     * @throws IllegalArgumentException for a word that names nothing
     */
    static Selection of(Plan plan, List<String> stores, List<String> words) {
        List<StoreKind> kinds = stores(stores);
        if (words.isEmpty()) {
            boolean all = plan.tier() != Tier.QUICK;
            return new Selection(kinds, Workload.upTo(plan.tier()), all, plan.tier() == Tier.FULL, all, all);
        }
        List<Workload> workloads = new ArrayList<>();
        for (String word : words) {
            List<Workload> named = Workload.named(word);
            if (named.isEmpty() && !BESIDE_WORKLOADS.contains(word)) {
                throw new IllegalArgumentException(
                        "there is no workload '" + word + "': it is one of " + String.join(", ", words()));
            }
            workloads.addAll(named);
        }
        return new Selection(
                kinds,
                List.copyOf(workloads),
                words.contains(OUTAGES),
                words.contains(SOAK),
                words.contains(FIGURES),
                false);
    }

    /** All words for {@code --workload}. */
    static List<String> words() {
        List<String> words = new ArrayList<>(List.of(SERVICE));
        words.addAll(Workload.ids());
        words.addAll(BESIDE_WORKLOADS);
        return words;
    }

    private static List<StoreKind> stores(List<String> only) {
        List<String> known =
                Arrays.stream(StoreKind.values()).map(StoreKind::id).toList();
        for (String name : only) {
            if (!known.contains(name)) {
                throw new IllegalArgumentException(
                        "there is no store '" + name + "' here: it is one of " + String.join(", ", known));
            }
        }
        return Arrays.stream(StoreKind.values())
                .filter(store -> only.isEmpty() || only.contains(store.id()))
                .toList();
    }
}
