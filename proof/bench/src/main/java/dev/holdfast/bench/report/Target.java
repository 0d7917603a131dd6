package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.Verdict;
import java.util.Optional;
import java.util.function.Function;

/**
 * A figure that is aimed at.
 *
 * @param store where; the row is left out where Holdfast took no part
 * @param what what is measured
 * @param wanted what it should be
 * @param check what it was; nothing when the run did not measure it
 */
record Target(StoreKind store, String what, String wanted, Function<Results, Optional<Outcome>> check) {
    /**
     * What it was.
     *
     * @param measured the figure
     * @param verdict whether that is as wanted
     */
    record Outcome(String measured, Verdict verdict) {}
}
