package dev.holdfast.challenge.lock;

import dev.holdfast.ladder.Rung;
import dev.holdfast.spi.Mode;
import java.util.concurrent.atomic.AtomicReference;

/** A lock of the textbooks. */
record RungLock(Rung rung, String name) implements AttackedLock {
    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        AtomicReference<Exception> failure = new AtomicReference<>();
        boolean done = rung.run(name, token -> {
            try {
                work.run(Grip.UNTOLD);
            } catch (Exception e) {
                failure.set(e);
            }
        });
        if (failure.get() != null) {
            throw failure.get();
        }
        return done ? Result.DONE : Result.BUSY;
    }

    @Override
    public void close() {
        rung.close();
    }
}
