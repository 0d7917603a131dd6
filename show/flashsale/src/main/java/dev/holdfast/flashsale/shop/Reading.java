package dev.holdfast.flashsale.shop;

/**
 * What an order has read before it writes.
 *
 * @param left the number of tickets that were left
 * @param at when it was read: milliseconds by the clock of this machine, which all servers share
 */
public record Reading(long left, long at) {
    /** What was read now. */
    public static Reading now(long left) {
        return new Reading(left, System.currentTimeMillis());
    }
}
