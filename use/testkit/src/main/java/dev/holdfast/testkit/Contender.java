package dev.holdfast.testkit;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.LockClient;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Somebody else who wants the same locks: another process, as far as the code under test can see. Thread-safe.
 *
 * <pre>{@code
 * Contender other = locks.somebodyElse();
 * CompletableFuture<Hold> theirs = other.waitFor("order:42");
 * service.ship(42);                                // must have released the lock at its end
 * assertTrue(theirs.isDone());
 * }</pre>
 */
public final class Contender {
    private final LockClient client;
    private final Queue<Hold> held = new ConcurrentLinkedQueue<>();

    Contender(LockClient client) {
        this.client = client;
    }

    /**
     * Takes a free lock. It is held until the hold is closed, lost, or the test ends.
     *
     * @throws IllegalStateException if somebody holds it
     */
    public Hold take(String name) {
        Hold taken = client.lock(name)
                .tryAcquire()
                .orElseThrow(() -> new IllegalStateException("somebody else cannot take '" + name + "', it is held: "
                        + client.lock(name)
                                .status()
                                .grant()
                                .map(Object::toString)
                                .orElse("released just now")
                        + "; use waitFor, or release it first"));
        keep(taken);
        return taken;
    }

    private void keep(Hold taken) {
        taken.detach(); // a test may drop it, and somebody else holds it nevertheless
        held.add(taken);
    }

    /**
     * Waits for a lock, without a thread: the future is complete as soon as the store has granted it. A lock that is free
     * is granted immediately.
     */
    public CompletableFuture<Hold> waitFor(String name) {
        CompletableFuture<Hold> theirs = client.lock(name).acquireAsync();
        theirs.thenAccept(this::keep);
        return theirs;
    }

    /** Releases what it took, at the end of the test. */
    void releaseAll() {
        for (Hold hold = held.poll(); hold != null; hold = held.poll()) {
            try {
                hold.close();
            } catch (HoldLostException lost) {
                // the test made that happen
            }
        }
    }

    /** The client that it uses, for whatever else it does. */
    public LockClient client() {
        return client;
    }
}
