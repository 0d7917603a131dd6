package dev.holdfast.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What one run of the sale came to.
 *
 * @param lock what guarded the stock
 * @param stock how many tickets there were
 * @param nanos how long it took
 * @param sales every ticket sold, by any process, in no order
 */
record SaleRun(SaleLock lock, long stock, long nanos, List<Sale> sales) {
    private static final double SECOND = 1e9;
    private static final double MILLISECOND = 1e6;
    private static final double P99 = 0.99;

    SaleRun {
        sales = List.copyOf(sales);
    }

    long sold() {
        return sales.size();
    }

    long oversold() {
        return Math.max(0, sold() - stock);
    }

    double perSecond() {
        return sold() * SECOND / nanos;
    }

    double p99WaitMillis() {
        long[] waits = sales.stream().mapToLong(Sale::waitNanos).sorted().toArray();
        return waits.length == 0 ? 0 : waits[(int) Math.ceil(waits.length * P99) - 1] / MILLISECOND;
    }

    double workMillis() {
        return SECOND / MILLISECOND / mostPerSecond();
    }

    /** How many sales one after another, without any time between them, would make in a second: what no lock can exceed. */
    double mostPerSecond() {
        return SECOND / sales.stream().mapToLong(Sale::workNanos).average().orElse(SECOND);
    }

    /** Whether each ticket of the stock was sold once. */
    boolean isExact() {
        return sold() == stock && sales.stream().map(Sale::ticket).distinct().count() == stock;
    }

    /** Whether each sale had a higher token than the one before; the order of sales is the order of the tickets. */
    boolean tokensRise() {
        List<Sale> inOrder = new ArrayList<>(sales);
        inOrder.sort(Comparator.comparingLong(Sale::ticket).reversed());
        for (int i = 1; i < inOrder.size(); i++) {
            if (inOrder.get(i).token() <= inOrder.get(i - 1).token()) {
                return false;
            }
        }
        return true;
    }
}
