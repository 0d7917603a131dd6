package dev.holdfast.testbed;

/**
 * The connections of a {@link TcpProxy} up to now. Immutable.
 *
 * @param accepted connections that clients made
 * @param open those that are open now
 * @param cut those that a fault of the proxy ended
 */
public record Connections(long accepted, int open, long cut) {}
