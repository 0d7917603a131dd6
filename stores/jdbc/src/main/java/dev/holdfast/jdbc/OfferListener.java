package dev.holdfast.jdbc;

/**
 * How a client learns from other processes that it is its turn. Opened when a claim has to wait, closed by itself when none has
 * waited for a while. Thread-safe.
 */
interface OfferListener extends AutoCloseable {
    /** The receiver. */
    interface Listener {
        /** A claim of this client was offered its lock. */
        void offered(String claimId);

        /** It receives from now on; what was sent before may have been missed. */
        void listening();

        /**
         * It cannot receive, for now.
         *
         * @param received whether it did before
         */
        void unavailable(Throwable why, boolean received);

        /** Whether anything waits. */
        boolean hasWaiters();
    }

    /** Whether it receives now. */
    boolean isOpen();

    /** Makes it receive soon; {@link Listener#listening} or {@link Listener#unavailable} follows. */
    void open();

    /** A claim waits behind another one; for a listener that must know. */
    default void watch(String claimId, String behind) {}

    @Override
    void close();

    /** Where nothing is received: the claims poll. */
    final class None implements OfferListener {
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
