package dev.holdfast.flashsale.node;

import dev.holdfast.HoldfastException;
import dev.holdfast.flashsale.guard.Guards;
import dev.holdfast.flashsale.guard.Outcome;
import dev.holdfast.flashsale.shop.Order;
import dev.holdfast.flashsale.shop.Sale;
import dev.holdfast.flashsale.shop.Shop;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/** Takes orders one by one: a queue that is bounded, an idempotency key that is honoured, and a guard. Thread-safe. */
@Component
final class Checkout {
    private static final int LONGEST_KEY = 100;

    private final Shop shop;
    private final Guards guards;
    private final int places;
    private final Semaphore queue;

    Checkout(Shop shop, Guards guards, @Value("${sale.queue}") int places) {
        this.shop = shop;
        this.guards = guards;
        this.places = places;
        this.queue = new Semaphore(places);
    }

    /** The number of orders that have no answer yet. */
    int present() {
        return places - queue.availablePermits();
    }

    /**
     * Takes an order, or answers with a refusal.
     *
     * @param soldOut what the buyer is told when too little is left
     */
    Order take(Sale sale, Order order, String guard, Duration wait, String soldOut) throws InterruptedException {
        if (!queue.tryAcquire()) {
            throw tooMany();
        }
        try {
            Optional<Order> before = shop.order(sale.id(), order.key());
            if (before.isPresent()) {
                return repeated(before.get(), order);
            }
            Outcome outcome = guards.get(guard).sell(sale, order, wait);
            return switch (outcome) {
                case SOLD -> order;
                case SOLD_OUT -> throw new Refusal(HttpStatus.CONFLICT, soldOut);
                case TOO_BUSY -> throw tooMany();
            };
        } catch (DataAccessException | TransactionException | HoldfastException | IllegalStateException failure) {
            // perhaps written by the same buyer's other request, or before the failure
            return repeated(
                    written(order)
                            .orElseThrow(() -> Refusal.ofStore(
                                    "The store did not take the order; send it again with the same key.", failure)),
                    order);
        } finally {
            queue.release();
        }
    }

    private Optional<Order> written(Order order) {
        try {
            return shop.order(order.sale(), order.key());
        } catch (DataAccessException unknown) {
            return Optional.empty();
        }
    }

    private static Order repeated(Order written, Order asked) {
        if (written.quantity() != asked.quantity()) {
            throw new Refusal(
                    HttpStatus.UNPROCESSABLE_CONTENT,
                    "The Idempotency-Key was used for an order of " + written.quantity() + ".");
        }
        return written;
    }

    private static Refusal tooMany() {
        return new Refusal(HttpStatus.TOO_MANY_REQUESTS, "Too many people, try later.").retryAfter(1);
    }

    /** The key of an order, if it is one. */
    static String key(@Nullable String key) {
        if (key == null || key.isBlank() || key.length() > LONGEST_KEY) {
            throw new Refusal(
                    HttpStatus.BAD_REQUEST,
                    "The header Idempotency-Key must have 1 to " + LONGEST_KEY
                            + " characters: a new one for each order.");
        }
        return key;
    }
}
