package dev.holdfast.tck.fuzz;

import dev.holdfast.spi.Mode;
import dev.holdfast.tck.fuzz.Op.Verb;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Keeps time out of a history, so that the same requests have the same answers: a lease is over before the next request
 * or lasts longer than all of them, one claim at most waits for a lock, and is granted it before the next request if it
 * fits. Whatever reads in between must not change any of the answers.
 */
final class Quiet {
    /** Outlasts every history, in milliseconds. */
    static final long LEASE = 60_000;

    /** A lease is surely over so long after its end. */
    private static final long OVER = 60;

    /** A place in a queue may have run out in a history that takes longer than this. */
    private static final long MOST = TimeUnit.MILLISECONDS.toNanos(1_500);

    private final World world;
    private final long begun = System.nanoTime();
    private boolean exact = true;
    private Map<Integer, String> answers = Map.of();

    Quiet(World world) {
        this.world = world;
    }

    /** Whether the line can be carried out so that its answer is known. */
    boolean takes(Op op) throws Exception {
        return op.verb() != Verb.WAIT
                || (world.all(op.name()).noneMatch(world::waits)
                        && (fits(op) || world.target.fingerprint(world.prefix).isPresent()));
    }

    private boolean fits(Op op) {
        return Beliefs.fits(world.target.exclusiveOnly() ? Mode.EXCLUSIVE : op.wanted(), holding(op.name()));
    }

    private List<Claimed> holding(int name) {
        return world.all(name)
                .filter(each -> world.holds(each) && !each.broken)
                .filter(each ->
                        world.target.isSessionBound() || each.claim.lease().toMillis() >= LEASE)
                .toList();
    }

    /** Whether a claim that waits is seen in what is stored: it is in its queue. */
    boolean isQueued(Op op, Optional<String> stored) {
        Claimed mine = Objects.requireNonNull(world.claimed.get(op.claim()));
        boolean queued =
                stored.isPresent() && stored.get().contains(mine.claim.id().toString());
        world.stats.reach("a claim is in its queue before the next line", queued);
        return queued;
    }

    /** A claim that waits was not seen in its queue: whether it is there is not known. */
    void isVague(Op op) {
        exact &= !world.waits(world.claimed.get(op.claim()));
    }

    /** Lets come what must come after that line. */
    void after(Op op) {
        if (op.millis() < LEASE && op.verb() == Verb.TRY) {
            world.inbox.pass(op.millis() + OVER);
        }
        world.all()
                .filter(each -> world.waits(each) && Beliefs.fits(each.claim.mode(), holding(each.name)))
                .forEach(each -> world.inbox.await(() -> !world.waits(each), "the lock for #" + each.label));
    }

    /** The lines are over; what follows depends on time. */
    void end() {
        boolean doubted = world.clients().anyMatch(each -> each.suspected.get() > 0);
        exact &= !doubted && System.nanoTime() - begun < MOST;
        answers = new TreeMap<>(world.outcomes);
    }

    /** What was answered, request by request; empty if time may have played a part. */
    Optional<Map<Integer, String>> answers() {
        return exact ? Optional.of(answers) : Optional.empty();
    }
}
