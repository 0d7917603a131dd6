package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;
import java.time.Duration;
import java.util.Map;

/**
 * A moment of a soak.
 *
 * @param store where
 * @param after how long the soak has gone on
 * @param perSecond turns per second since the moment before
 * @param waitP99 the 99th percentile of their waits, in nanoseconds
 * @param heap the bytes of heap that the processes use after a collection
 * @param kept what the store keeps: keys, rows, nodes, bytes
 */
public record Growth(
        StoreKind store, Duration after, double perSecond, double waitP99, double heap, Map<String, Double> kept) {}
