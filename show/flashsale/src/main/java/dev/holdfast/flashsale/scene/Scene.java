package dev.holdfast.flashsale.scene;

import java.util.List;

/** A problem that several servers have together. Thread-safe. */
@FunctionalInterface
public interface Scene {
    /** The way without any lock. */
    String PLAIN = "plain";

    /**
     * Plays the part of one actor.
     *
     * @return what the actor did, in its order
     * @throws InterruptedException if the thread is interrupted while it waits or works
     */
    List<Span> play(Part part) throws InterruptedException;
}
