package dev.holdfast.testbed;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

/**
 * Chooses among the chunks of bytes that pass through a {@link TcpProxy}. A chunk is what one read gave: for a small
 * request of a client that writes it in one go, that is the request; a large or pipelined one may come in pieces, or
 * several in one.
 *
 * <pre>{@code
 * ChunkMatcher set = ChunkMatcher.containing("SET");
 * }</pre>
 *
 * <p>Called on the thread of the proxy: it must not block.
 */
@FunctionalInterface
public interface ChunkMatcher {
    /** Whether this chunk is meant; the array is a copy. */
    boolean matches(byte[] chunk);

    /** Any chunk. */
    static ChunkMatcher any() {
        return chunk -> true;
    }

    /** Chunks in which the text occurs, as bytes of ISO 8859-1. */
    static ChunkMatcher containing(String text) {
        return chunk -> new String(chunk, ISO_8859_1).contains(text);
    }
}
