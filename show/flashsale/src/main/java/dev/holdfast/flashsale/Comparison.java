package dev.holdfast.flashsale;

import dev.holdfast.flashsale.guard.Faults;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * The guards of a store side by side: how fast they are when nothing happens, and what each sells when servers are as
 * they are, when one is stopped past its lease in the middle of an order, and when one is killed there.
 */
final class Comparison {
    private static final int MANY = 300;
    private static final int ROUNDS = 3;
    private static final int STOCK = 20;
    private static final int CROWD = 64;
    private static final int GAP = 5; // milliseconds
    private static final long POLL = 50; // milliseconds

    private final FlashSale sale;
    private final Consumer<String> progress;

    Comparison(FlashSale sale, Consumer<String> progress) {
        this.sale = sale;
        this.progress = progress;
    }

    /**
     * How a guard fared.
     *
     * @param speed 300 buyers, a ticket for each, and no gap: the median of three rounds
     * @param crowd 64 buyers for 20 tickets
     * @param stopped the same, and a server is stopped past its lease
     * @param killed the same, and a server is killed
     */
    record Row(
            String guard,
            Buyers.Figures speed,
            FlashSale.Figures crowd,
            FlashSale.Figures stopped,
            FlashSale.Figures killed) {}

    /** Measures guards; takes 10 to 50 seconds for each. */
    List<Row> measure(List<String> guards) throws InterruptedException {
        List<Row> rows = new ArrayList<>();
        for (String guard : guards) {
            progress.accept("measuring " + guard);
            rows.add(measure(guard));
        }
        return rows;
    }

    /** How fast a guard is, and nothing else. */
    record Speed(String guard, Buyers.Figures figures) {}

    /** Measures how fast guards are; takes some seconds for each. */
    List<Speed> measureSpeed(List<String> guards) throws InterruptedException {
        List<Speed> speeds = new ArrayList<>();
        for (String guard : guards) {
            speeds.add(new Speed(guard, speed(guard)));
        }
        return speeds;
    }

    private Buyers.Figures speed(String guard) throws InterruptedException {
        sellMany(guard); // what is compiled and connected on first use is not measured
        List<Buyers.Figures> rounds = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            rounds.add(sellMany(guard));
        }
        rounds.sort(Comparator.comparingDouble(Buyers.Figures::perSecond));
        return rounds.get(ROUNDS / 2);
    }

    private Row measure(String guard) throws InterruptedException {
        Buyers.Figures speed = speed(guard);
        sale.open(guard, STOCK, GAP);
        FlashSale.Figures crowd = sell(CROWD);
        sale.open(guard, STOCK, GAP);
        sale.servers().pause(1);
        FlashSale.Figures stopped = sell(CROWD);
        sale.servers().awaitUp(1);
        sale.open(guard, STOCK, GAP);
        sale.servers().killInNextOrder(1);
        FlashSale.Figures killed = sell(CROWD);
        sale.servers().replace(1);
        return new Row(guard, speed, crowd, stopped, killed);
    }

    private Buyers.Figures sellMany(String guard) throws InterruptedException {
        sale.open(guard, MANY, 0);
        return Objects.requireNonNull(sell(MANY).buyers());
    }

    private FlashSale.Figures sell(int crowd) throws InterruptedException {
        sale.send(crowd, 1);
        while (!sale.isQuiet()) {
            Thread.sleep(POLL);
        }
        return sale.figures();
    }

    /** The rows as a table of Markdown. */
    static String table(List<Row> rows) {
        StringBuilder table = new StringBuilder(
                        "| guard | orders a second | wait, median | wait, 99 % | 64 buyers, 20 tickets | a server stopped | a server killed |\n")
                .append("|---|---|---|---|---|---|---|\n");
        for (Row row : rows) {
            table.append(String.format(
                    Locale.ROOT,
                    "| %s | %.0f | %.0f ms | %.0f ms | %s | %s | %s |%n",
                    row.guard(),
                    row.speed().perSecond(),
                    row.speed().medianMillis(),
                    row.speed().p99Millis(),
                    verdict(row.crowd()),
                    verdict(row.stopped(), Faults.Fault.PAUSE),
                    verdict(row.killed(), Faults.Fault.KILL)));
        }
        return table.toString();
    }

    /** The same of speeds. */
    static String speedTable(List<Speed> speeds) {
        StringBuilder table =
                new StringBuilder("| guard | orders a second | wait, median | wait, 99 % |\n|---|---:|---:|---:|\n");
        for (Speed speed : speeds) {
            table.append(String.format(
                    Locale.ROOT,
                    "| %s | %.0f | %.0f ms | %.0f ms |%n",
                    speed.guard(),
                    speed.figures().perSecond(),
                    speed.figures().medianMillis(),
                    speed.figures().p99Millis()));
        }
        return table.toString();
    }

    private static String verdict(FlashSale.Figures end, Faults.Fault wanted) {
        return end.struck().of(wanted) == 0 ? "the fault did not strike" : verdict(end);
    }

    private static String verdict(FlashSale.Figures end) {
        Integer gaveUp = end.buyers() == null ? null : end.buyers().answers().get("gave up");
        if (end.tally().oversold() > 0) {
            return "**" + end.tally().oversold() + " oversold**";
        }
        if (gaveUp != null) {
            return "**stuck**: " + end.tally().sold() + " sold, " + gaveUp + " gave up";
        }
        return end.tally().sold() + " sold"
                + (end.tally().refusals() > 0 ? ", " + end.tally().refusals() + " refused by the fence" : "");
    }
}
