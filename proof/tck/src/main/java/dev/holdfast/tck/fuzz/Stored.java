package dev.holdfast.tck.fuzz;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * What is stored, read when the clients are at rest. A store may answer first and clear up afterwards: SQLite answers a
 * waiting claim with its grant and then deletes its place in the queue.
 */
final class Stored {
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(45);
    private static final long PAUSE_MILLIS = 2;
    private static final int MOST_READINGS = 200;

    private final World world;

    Stored(World world) {
        this.world = world;
    }

    /** The fingerprint, once two successive readings agree; empty if there is none, or if they never agree. */
    Optional<String> settled() throws Exception {
        Optional<String> last = world.target.fingerprint(world.prefix);
        if (last.isPresent()) {
            awaitClients();
        }
        for (int i = 0; last.isPresent() && i < MOST_READINGS; i++) {
            Optional<String> next = world.target.fingerprint(world.prefix);
            if (next.equals(last)) {
                return next;
            }
            world.inbox.pass(PAUSE_MILLIS);
            last = next;
        }
        return Optional.empty();
    }

    /** Each client answers once more, about a lock that nobody uses: what it did behind its last answer is then done. */
    private void awaitClients() throws Exception {
        List<? extends CompletionStage<?>> asked = world.clients()
                .map(each -> each.store.status(world.prefix + "unused"))
                .toList();
        for (CompletionStage<?> each : asked) {
            try {
                each.toCompletableFuture().get(PATIENCE, TimeUnit.NANOSECONDS);
            } catch (ExecutionException e) {
                throw (Violation) new Violation("a status failed, and nothing was wrong: " + e.getCause()).initCause(e);
            }
        }
    }
}
