package dev.holdfast.spi;

/**
 * What a client gives the store that is opened for it.
 *
 * @param time the client's time: grants and renewals are stamped by it
 */
public record StoreContext(TimeSource time) {}
