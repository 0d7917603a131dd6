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
        int drawn = charts.drawAllServers() ? 1 : 0;
        for (StoreKind store : StoreKind.values()) {
            drawn += charts.draw(store).size();
        }
        if (drawn == 0) {
            System.err.println("There are no figures (bench-STORE.tsv) in " + folder
                    + ": './holdfast bench --only STORE' measures them");
            System.exit(1);
        }
        System.out.println(drawn + " pictures drawn in " + folder);
    }
}
