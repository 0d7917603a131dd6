package dev.holdfast.jdbc;

/**
 * How a client hears from other processes that it is up. Opened when a claim has to wait, closed by itself when none has
 * waited for a while. Thread-safe.
 */
interface OfferListener extends AutoCloseable {
    /** Who hears. */
    interface Listener {
        /** A claim of this client was offered its lock. */
        void offered(String claimId);

        /** It hears from now on; what was said before may have been missed. */
        void hearing();

        /** It cannot hear, for now. */
        void deaf(Throwable why);

        /** Whether anything waits. */
        boolean isWanted();
    }

    /** Whether it hears now. */
    boolean isOpen();

    /** Sees to it that it hears soon; {@link Listener#hearing} or {@link Listener#deaf} follows. */
    void open();

    /** A claim waits behind another one; for a listener that must know. */
    default void watch(String claimId, String behind) {}

    @Override
    void close();

    /** Where nothing is heard: the claims look for themselves. */
    final class Deaf implements OfferListener {
        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void open() {}

        @Override
        public void close() {}
    }
}
