package dev.holdfast.sim;

import java.util.concurrent.CompletableFuture;

/** A future whose {@code join} lets the world go on until it is there, as a blocked thread does. */
final class Answer<T> extends CompletableFuture<T> {
    private final World world;
    private final World.Owner caller;

    Answer(World world, World.Owner caller) {
        this.world = world;
        this.caller = caller;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new Answer<>(world, caller);
    }

    @Override
    public T join() {
        world.block(caller, this::isDone);
        return super.join();
    }
}
