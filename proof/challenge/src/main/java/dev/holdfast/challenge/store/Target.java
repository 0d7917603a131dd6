package dev.holdfast.challenge.store;

import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.ServerClock;
import dev.holdfast.testbed.ServerProcess;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A store of its own, started to be attacked. */
public interface Target extends AutoCloseable {
    /** What it is and how it is set, in one line. */
    String settings();

    /** Its address, as users of Holdfast write it. */
    String url();

    /** Whether it is a file, which a process may have to itself. */
    default boolean isFile() {
        return false;
    }

    /** Its process; none for a file, or for several servers. */
    default Optional<ServerProcess> process() {
        return Optional.empty();
    }

    /** The port that clients connect to; none for a file, or for several servers. */
    default OptionalInt port() {
        return process().map(server -> OptionalInt.of(server.port())).orElse(OptionalInt.empty());
    }

    /** Its wall clock, where that can be set. */
    default Optional<ServerClock> clock() {
        return Optional.empty();
    }

    /** What its wall clock shows, in milliseconds since 1970; of a store with a {@link #clock}. */
    default long wallMillis() {
        throw new UnsupportedOperationException(settings() + " has no clock to set");
    }

    /** Has the server end all connections but that on which it is asked to; how many. */
    default int killConnections() {
        throw new UnsupportedOperationException(settings() + " ends no connection by a command");
    }

    /**
     * Which bytes from the server say that it has done what it was asked for. A connection that ends before takes what was
     * not committed with it, and a reply that is lost then is no fault at all.
     */
    default ChunkMatcher isDone() {
        return ChunkMatcher.any();
    }

    /**
     * What it keeps of locks of Holdfast, looked up by other means than Holdfast's own. Each entry contains the name of its
     * lock. What may stay when nobody uses a lock any more is left out; each store says what that is, and why.
     */
    List<String> kept();

    /** What a process has open of a store that is a file; where there is a port, its proxy knows. */
    default List<String> openIn(long process) {
        return List.of();
    }

    /** Its address through a proxy on another port. */
    default String urlThrough(int proxy) {
        return url().replace(":" + port().orElseThrow(), ":" + proxy);
    }

    @Override
    void close();
}
