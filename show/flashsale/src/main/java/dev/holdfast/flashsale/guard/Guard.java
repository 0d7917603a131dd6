package dev.holdfast.flashsale.guard;

import dev.holdfast.flashsale.shop.Order;
import dev.holdfast.flashsale.shop.Sale;
import java.time.Duration;

/** What keeps orders apart from each other, well or badly. Thread-safe. */
@FunctionalInterface
public interface Guard extends AutoCloseable {
    /**
     * Takes an order.
     *
     * @param patience how long it may wait for its turn; guards that cannot bound their wait ignore it
     * @throws InterruptedException if the thread is interrupted while it waits; nothing was written
     */
    Outcome sell(Sale sale, Order order, Duration patience) throws InterruptedException;

    @Override
    default void close() {}
}
