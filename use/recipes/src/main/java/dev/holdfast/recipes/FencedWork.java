package dev.holdfast.recipes;

import dev.holdfast.HoldLostException;
import dev.holdfast.Holding;

/**
 * A hold of work in which every write carries the token. The resource judges each write by its token. A loss that is found
 * only at the release changes no write, so {@code close} does not throw it. The client logs it.
 */
final class FencedWork implements AutoCloseable {
    private final Holding hold;

    FencedWork(Holding hold) {
        this.hold = hold;
    }

    @Override
    public void close() {
        try {
            hold.close();
        } catch (HoldLostException judgedByTheToken) {
            // see above
        }
    }
}
