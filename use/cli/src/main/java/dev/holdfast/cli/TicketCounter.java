package dev.holdfast.cli;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One buyer's thread in one run: read the stock, pay, write one less, until nothing is left.
 *
 * <pre>
 *   this buyer    read 7 ─── pay ─── write 6
 *   another            read 7 ─── pay ─── write 6     two tickets sold, one gone from the stock
 * </pre>
 */
final class TicketCounter implements Callable<List<Sale>> {
    private static final Object MONITOR = new Object();
    private static final long SHORTEST_PAYMENT = TimeUnit.MICROSECONDS.toNanos(500);
    private static final long LONGEST_PAYMENT = TimeUnit.MICROSECONDS.toNanos(1500);

    private final SaleLock kind;
    private final DistributedLock lock;
    private final Stock stock;
    private final long most;
    private final AtomicLong soldHere;
    private final List<Sale> sales = new ArrayList<>();

    /**
     * @param most how many one buyer sells: lost updates can raise the stock again, so that a run without a lock might
     *     not end by itself
     */
    TicketCounter(SaleLock kind, DistributedLock lock, Stock stock, long most, AtomicLong soldHere) {
        this.kind = kind;
        this.lock = lock;
        this.stock = stock;
        this.most = most;
        this.soldHere = soldHere;
    }

    @Override
    public List<Sale> call() throws InterruptedException {
        while (sales.size() < most && sellNext()) {
            soldHere.incrementAndGet();
        }
        return sales;
    }

    private boolean sellNext() throws InterruptedException {
        long begin = System.nanoTime();
        switch (kind) {
            case SYNCHRONIZED -> {
                synchronized (MONITOR) {
                    return sellOne(0, System.nanoTime() - begin);
                }
            }
            case HOLDFAST -> {
                try (Hold hold = lock.acquire()) {
                    return sellOne(hold.token(), System.nanoTime() - begin);
                }
            }
            default -> {
                return sellOne(0, 0);
            }
        }
    }

    private boolean sellOne(long token, long waited) throws InterruptedException {
        long begin = System.nanoTime();
        long left = stock.read();
        if (left <= 0) {
            return false;
        }
        TimeUnit.NANOSECONDS.sleep(ThreadLocalRandom.current().nextLong(SHORTEST_PAYMENT, LONGEST_PAYMENT));
        stock.write(left - 1);
        sales.add(new Sale(left, token, waited, System.nanoTime() - begin));
        return true;
    }
}
