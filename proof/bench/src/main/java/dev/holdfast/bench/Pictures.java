package dev.holdfast.bench;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.Charts;
import dev.holdfast.bench.report.MeasuredPage;
import java.io.IOException;
import java.nio.file.Path;

/**
 * {@code ./holdfast bench pictures}: draws the pictures of all stores and writes the page of measured figures again,
 * from the figures that are kept beside them, without a new measurement.
 */
public final class Pictures {
    private Pictures() {}

    /**
     * Draws and writes them.
     *
     * @param args the folder above {@code images} and {@code measured}; without it, docs of the checkout
     */
    public static void main(String[] args) throws IOException {
        Path folder = args.length > 0
                ? Path.of(args[0])
                : Path.of(System.getProperty("holdfast.home", "")).resolve("docs");
        Charts charts = new Charts(folder.resolve("images"));
        int drawn = charts.drawAllServers() ? 1 : 0;
        for (StoreKind store : StoreKind.values()) {
            drawn += charts.draw(store).size();
        }
        if (drawn == 0) {
            System.err.println("There are no figures (images/bench-STORE.tsv) in " + folder
                    + ": './holdfast bench --only STORE' measures them");
            System.exit(1);
        }
        MeasuredPage.write(folder.resolve("measured"));
        System.out.println(drawn + " pictures drawn, and measured/index.html written, in " + folder);
    }
}
