package dev.holdfast;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Several locks held together. They are one hold: if one of the locks is lost, the whole hold is lost.
 *
 * <pre>{@code
 * try (MultiHold both = client.multiLock(List.of("account:7", "account:3")).acquire()) {
 *     transfer(both.token("account:7"), both.token("account:3"));
 * }
 * }</pre>
 *
 * <p>The locks that were not lost stay locked until it is closed, because the holder may still be at work.
 *
 * <p>Thread-safe: any thread may close it, except where {@link HoldOptions#reentrant()} binds it to its thread.
 */
public final class MultiHold implements Holding {
    private final List<Hold> holds;

    MultiHold(List<Hold> holds) {
        this.holds = holds;
    }

    /** The names, in the order in which they were locked. */
    public List<String> names() {
        return holds.stream().map(Hold::name).toList();
    }

    /**
     * The fencing token of one of the locks; see {@link Hold#token()}.
     *
     * @throws IllegalArgumentException if the name is none of {@link #names()}
     */
    public long token(String name) {
        return hold(name).token();
    }

    /**
     * The random id by which the store knows the grant of one of the locks; see {@link Hold#id()}.
     *
     * @throws IllegalArgumentException if the name is none of {@link #names()}
     */
    public String id(String name) {
        return hold(name).id();
    }

    private Hold hold(String name) {
        return holds.stream()
                .filter(hold -> hold.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("'" + name + "' is none of " + names()));
    }

    /** Whether all the locks are surely held right now; see {@link Hold#isValid()}. */
    @Override
    public boolean isValid() {
        return holds.stream().allMatch(Hold::isValid);
    }

    /** How long all of them stay valid if no renewal succeeds; zero when one is not. */
    @Override
    public Duration remaining() {
        return holds.stream()
                .map(Hold::remaining)
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    /** How long ago the last of them was acquired, and so all were held; see {@link Hold#heldFor()}. */
    @Override
    public Duration heldFor() {
        return holds.stream().map(Hold::heldFor).min(Comparator.naturalOrder()).orElse(Duration.ZERO);
    }

    /** Runs an action once when the first of the locks is lost; see {@link Hold#onLost}. */
    @Override
    public void onLost(Consumer<Loss> action) {
        AtomicBoolean reported = new AtomicBoolean();
        holds.forEach(hold -> hold.onLost(loss -> {
            if (reported.compareAndSet(false, true)) {
                action.accept(loss);
            }
        }));
    }

    /**
     * Renews all the locks of a hold without {@link HoldOptions#autoRenew()} for another lease, one after another, each
     * counted from its own request; waits for the store. Where one of them fails, those before it are extended.
     *
     * @param lease the new lease, as for {@link Hold#extend}
     * @throws HoldLostException if one of the locks is lost, or turns out to be
     * @throws StoreUnavailableException if the store did not answer: {@link #remaining()} returns how long the locks are surely held
     * @throws IllegalStateException if the hold is renewed by itself, or closed
     */
    @Override
    public void extend(Duration lease) {
        holds.forEach(hold -> hold.extend(lease));
    }

    /** Keeps the hold for the life of the process; see {@link Hold#detach()}. */
    @Override
    public void detach() {
        holds.forEach(Hold::detach);
    }

    /**
     * Releases all the locks, the last one locked first. Closing twice does nothing.
     *
     * @throws HoldLostException once, if one of them was lost before; those of further ones are suppressed in it
     * @throws IllegalMonitorStateException if the hold is re-entrant and belongs to another thread; it stays open
     */
    @Override
    public void close() {
        holds.get(0).checkOwner();
        Throwable first = null;
        for (int i = holds.size() - 1; i >= 0; i--) {
            try {
                holds.get(i).close();
            } catch (Throwable lost) { // also an Error: the others are released all the same
                if (first == null) {
                    first = lost;
                } else {
                    first.addSuppressed(lost);
                }
            }
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first != null) {
            throw (RuntimeException) first;
        }
    }

    @Override
    public String toString() {
        return "MultiHold" + holds;
    }
}
