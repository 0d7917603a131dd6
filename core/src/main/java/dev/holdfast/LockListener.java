package dev.holdfast;

import java.time.Duration;

/**
 * Hears what happens to the locks of a client. Every method may be left out. Calls come one after another on the
 * client's listener thread, never on the caller's; an exception is logged and dropped.
 *
 * <pre>{@code
 * LockClient client = LockClient.builder("sqlite:locks.db")
 *         .listener(new LockListener() {
 *             @Override
 *             public void onLost(Loss loss) {
 *                 alerts.send(loss.message());
 *             }
 *         })
 *         .build();
 * }</pre>
 */
public interface LockListener {

    /** A hold began, after having waited. */
    default void onAcquired(String name, long token, Duration waited) {}

    /** A hold was closed by its holder. */
    default void onReleased(String name, long token, Duration held) {}

    /** A hold ended otherwise than by its own close. */
    default void onLost(Loss loss) {}
}
