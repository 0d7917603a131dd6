package dev.holdfast.cli;

import java.io.PrintStream;
import java.util.Locale;

/** How a run goes, on stderr: a bar that moves on a terminal, else one line at the end of each run. */
final class SaleProgress {
    private static final int WIDTH = 30;

    private final PrintStream err;
    private final boolean live;

    private SaleProgress(PrintStream err, boolean live) {
        this.err = err;
        this.live = live;
    }

    static SaleProgress onStderr() {
        return new SaleProgress(System.err, Terminal.isAt(Terminal.STDERR));
    }

    void say(String line) {
        err.println(line);
    }

    void show(SaleLock lock, long left, long stock, long sold) {
        if (live) {
            err.print("\r" + bar(lock, left, stock) + sold(sold, stock));
            err.flush();
        }
    }

    void end(SaleRun run) {
        if (live) {
            err.println("\r" + bar(run.lock(), 0, run.stock()) + sold(run.sold(), run.stock()));
        } else {
            err.println("  " + run.lock().label() + ":" + sold(run.sold(), run.stock()));
        }
    }

    private static String bar(SaleLock lock, long left, long stock) {
        int gone = (int) (WIDTH * Math.max(0, Math.min(stock, stock - left)) / stock);
        return String.format(Locale.ROOT, "  %-12s [", lock.label()) + "#".repeat(gone) + "-".repeat(WIDTH - gone)
                + "]";
    }

    private static String sold(long sold, long stock) {
        return String.format(Locale.ROOT, " sold %,d of %,d", sold, stock);
    }
}
