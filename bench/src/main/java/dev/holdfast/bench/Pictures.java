package dev.holdfast.bench;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.Charts;
import java.io.IOException;
import java.nio.file.Path;

/**
 * {@code ./holdfast bench pictures}: draws the pictures of all stores again from the figures that are kept beside them,
 * without a new measurement.
 */
public final class Pictures {
    private Pictures() {}

    /**
     * Draws them.
     *
     * @param args the folder; without it, docs/images of the checkout
     */
    public static void main(String[] args) throws IOException {
        Path folder = args.length > 0
                ? Path.of(args[0])
                : Path.of(System.getProperty("holdfast.home", "")).resolve("docs/images");
        Charts charts = new Charts(folder);
        for (StoreKind store : StoreKind.values()) {
            charts.draw(store);
        }
        charts.drawFreeLocks();
        System.out.println("Drawn in " + folder);
    }
}
