package dev.holdfast.ladder;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/**
 * Somebody who works under a lock on a thread of its own, and stays inside until told to go.
 *
 * <pre>{@code
 * Visitor first = Visitor.comes(rung, "stock:7");
 * first.awaitInside();
 * first.leaves();
 * }</pre>
 */
public final class Visitor {
    /** Longer than anything here takes. */
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private final CompletableFuture<Long> inside = new CompletableFuture<>();
    private final CountDownLatch told = new CountDownLatch(1);
    private final CompletableFuture<Boolean> end = new CompletableFuture<>();
    private volatile boolean fails;

    private Visitor() {}

    /** Lets somebody come who wants to work under the lock. */
    public static Visitor comes(Rung rung, String name) {
        Visitor visitor = new Visitor();
        Thread thread = new Thread(() -> visitor.visit(rung, name), "visitor of " + name);
        thread.setDaemon(true);
        thread.start();
        return visitor;
    }

    /** Whether one who comes now is let in; one that is let in leaves at once. */
    public static boolean canEnter(Rung rung, String name) {
        return rung.run(name, token -> {});
    }

    private void visit(Rung rung, String name) {
        try {
            end.complete(rung.run(name, this::work));
        } catch (RuntimeException e) {
            end.completeExceptionally(e);
        }
    }

    private void work(long token) {
        inside.complete(token);
        try {
            told.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (fails) {
            throw new IllegalArgumentException("the work went wrong");
        }
    }

    /** Waits until the work has begun, and tells its token. */
    public long awaitInside() {
        return get(inside);
    }

    /** The work ends; does not wait for what the rung does then. */
    public void finishes() {
        told.countDown();
    }

    /** The work ends, and with it all that the rung does; whether the work was done at all. */
    public boolean leaves() {
        finishes();
        return get(end);
    }

    /** The work throws, and what the rung makes of that is over. */
    public void fails() {
        fails = true;
        finishes();
        try {
            end.orTimeout(PATIENCE.toMillis(), MILLISECONDS).join();
            throw new AssertionError("the failure of the work was not passed on");
        } catch (java.util.concurrent.CompletionException e) {
            if (!(e.getCause() instanceof IllegalArgumentException)) {
                throw e;
            }
        }
    }

    private static <T> T get(CompletableFuture<T> future) {
        return future.orTimeout(PATIENCE.toMillis(), MILLISECONDS).join();
    }
}
