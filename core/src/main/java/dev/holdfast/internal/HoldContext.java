package dev.holdfast.internal;

import dev.holdfast.Loss;
import java.time.Duration;
import java.util.function.Consumer;

/** The services of the client that a hold needs beyond its own queue. Thread-safe. */
interface HoldContext {
    /** By the client's clock, for differences. */
    long nanoTime();

    /** Ends a grant whose deadline has passed, and marks a grant as in doubt if the machine slept meanwhile. */
    void examine(GrantState grant);

    /** Renews a fixed lease on its holder's behalf, and waits. */
    void extend(HoldState hold, Duration lease);

    /** Notes a loss for an action, which runs on the listener thread; after {@link #flush} where nothing else follows. */
    void note(Loss loss, Consumer<Loss> action);

    /** Notes an action for a holder whose lock others wait for; it runs on the listener thread. */
    void noteWanted(String name, Runnable action);

    /** Runs a short task on the client's timer. */
    void soon(Runnable task);

    /** Notifies the listeners of the noted events. */
    void flush();
}
