package dev.holdfast.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The outcome of the demo, for people and for programs.
 *
 * @param runs one of each {@link SaleLock}
 */
record SaleReport(String store, long stock, int processes, int buyers, List<SaleRun> runs) {
    private static final double TENTHS = 10;
    private static final double THOUSANDTHS = 1000;
    private static final double HUNDRED = 100;

    SaleReport {
        runs = List.copyOf(runs);
    }

    String table() {
        TextTable table = new TextTable("lrrrr", "LOCK", "SOLD", "OVERSOLD", "TICKETS/S", "P99 WAIT");
        for (SaleRun run : runs) {
            table.row(
                    run.lock().label(),
                    number("%,d", run.sold()),
                    number("%,d", run.oversold()),
                    number("%,.0f", run.perSecond()),
                    number("%,.1f ms", run.p99WaitMillis()));
        }
        return table.toString();
    }

    /** What it shows, in a few lines. */
    String sentence() {
        SaleRun synced = run(SaleLock.SYNCHRONIZED);
        String without = "Without a lock " + processes + (processes == 1 ? " process sold " : " processes sold ")
                + times(run(SaleLock.NONE)) + ";\n";
        String java = synced.isExact()
                ? "synchronized was enough for " + (processes == 1 ? "one process" : "them this time") + ";\n"
                : "synchronized stops at the border of a process and sold " + times(synced) + ";\n";
        return without + java + "Holdfast sold " + times(run(SaleLock.HOLDFAST))
                + (isRight() ? ", each under a higher token than the one before." : ".")
                + "\n" + limit(run(SaleLock.HOLDFAST));
    }

    /** Why fewer sales a second are not the price of the lock. */
    private static String limit(SaleRun run) {
        return number("One sale works for %.1f ms", run.workMillis())
                + number(", so one after another can be %,.0f a second at most,", run.mostPerSecond())
                + number(
                        "\nwith any lock; Holdfast reached %.0f %% of that.",
                        HUNDRED * run.perSecond() / run.mostPerSecond());
    }

    /** Whether Holdfast kept its promise: each ticket once, tokens rising. */
    boolean isRight() {
        SaleRun run = run(SaleLock.HOLDFAST);
        return run.isExact() && run.tokensRise();
    }

    /** What went wrong when it is not {@link #isRight() right}. */
    String fault() {
        SaleRun run = run(SaleLock.HOLDFAST);
        if (run.isExact()) {
            return "the tokens did not rise from sale to sale";
        }
        return run.sold() == stock
                ? "a ticket was sold twice under the lock"
                : run.sold() + " tickets were sold under the lock, of a stock of " + stock;
    }

    String json() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("store", store);
        fields.put("stock", stock);
        fields.put("processes", processes);
        fields.put("buyers", buyers);
        fields.put("runs", runs.stream().map(SaleReport::json).toList());
        return Json.of(fields);
    }

    private static Map<String, Object> json(SaleRun run) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("lock", run.lock().label());
        fields.put("sold", run.sold());
        fields.put("oversold", run.oversold());
        fields.put("perSecond", Math.round(run.perSecond() * TENTHS) / TENTHS);
        fields.put("p99WaitMillis", Math.round(run.p99WaitMillis() * THOUSANDTHS) / THOUSANDTHS);
        return fields;
    }

    private SaleRun run(SaleLock lock) {
        return runs.stream().filter(run -> run.lock() == lock).findFirst().orElseThrow();
    }

    private String times(SaleRun run) {
        return run.isExact()
                ? "exactly " + number("%,d", stock)
                : number("%,d", run.sold()) + " tickets of " + number("%,d", stock);
    }

    private static String number(String format, Object value) {
        return String.format(Locale.ROOT, format, value);
    }
}
