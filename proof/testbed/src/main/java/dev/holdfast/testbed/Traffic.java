package dev.holdfast.testbed;

/**
 * What became of the bytes that came to a {@link TcpProxy} in one direction, over all connections, up to now. Immutable.
 *
 * @param read bytes taken from the sender
 * @param passed bytes given to the receiver
 * @param dropped bytes that the receiver will never get
 * @param kept bytes still in the proxy, delayed or held
 */
public record Traffic(long read, long passed, long dropped, long kept) {}
