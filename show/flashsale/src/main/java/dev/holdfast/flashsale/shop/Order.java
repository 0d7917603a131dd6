package dev.holdfast.flashsale.shop;

/**
 * An order of a buyer.
 *
 * @param sale the sale
 * @param key the buyer's idempotency key: however often it is sent, it is one order
 * @param quantity the number of tickets, at least 1
 * @param node the server that takes it
 */
public record Order(String sale, String key, int quantity, String node) {}
