package dev.holdfast.recipes;

import dev.holdfast.HoldLostException;
import dev.holdfast.Holding;

/**
 * A hold of work whose every write carries the token. The resource has judged each write by its token when the work
 * ends: a loss of the hold that is found only at its release changes nothing about what was written, so it is not thrown
 * over a result that counts. The client has logged it.
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
