package dev.holdfast.recipes;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Where a thread waits until the test lets it go on. */
final class Gate {
    private static final long PATIENCE = 60;

    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);

    void pass() {
        arrived.countDown();
        await(opened);
    }

    void awaitArrival() {
        await(arrived);
    }

    void open() {
        opened.countDown();
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(PATIENCE, TimeUnit.SECONDS)) {
                throw new AssertionError("nobody came after " + PATIENCE + " s");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
