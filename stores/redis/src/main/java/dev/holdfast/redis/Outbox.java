package dev.holdfast.redis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Calls that are to be sent: a moment later, or as soon as there is a connection. They leave in the order in which they were
 * made. So one that is back, to be sent again, leaves before those that were made after it: a claim that overtakes the
 * release before it finds the hold that its own client has ended. Thread-safe.
 */
final class Outbox {
    private static final int ALONE = -1;

    private final Set<ScriptCall> calls = new ConcurrentSkipListSet<>(Comparator.comparingLong(ScriptCall::number));

    void add(ScriptCall call) {
        calls.add(call);
    }

    boolean isEmpty() {
        return calls.isEmpty();
    }

    /**
     * Takes those that are still awaited; of a lock whose release is followed by a claim, one call for both. Each is kept
     * among those that were sent before it is taken from here, so that an Error on the way loses none.
     *
     * @param again sends a claim by itself
     * @param most how many to take
     */
    List<ScriptCall> take(Set<ScriptCall> sent, Consumer<ScriptCall> again, int most) {
        List<ScriptCall> batch = new ArrayList<>();
        Map<String, Integer> released = null;
        for (Iterator<ScriptCall> all = calls.iterator(); batch.size() < most && all.hasNext(); ) {
            ScriptCall call = all.next();
            if (call.isDone()) {
                all.remove(); // given up
                continue;
            }
            String name = call.name();
            Integer before = name == null || released == null ? null : released.remove(name);
            // one that was sent before stays by itself: as part of another request its answer would not say so
            int joined = before != null && call.isExclusiveClaim() && !call.wasSent() ? before : ALONE;
            ScriptCall taken = joined == ALONE ? call : batch.get(joined).with(call, again);
            sent.add(taken);
            if (!calls.remove(call)) {
                sent.remove(taken); // another pipeline has it, since this one was retired
            } else if (joined != ALONE) {
                sent.remove(batch.set(joined, taken));
            } else {
                if (name != null && call.isExclusiveRelease() && !call.wasSent()) {
                    released = released == null ? new HashMap<>() : released;
                    released.put(name, batch.size());
                }
                batch.add(call);
            }
        }
        return batch;
    }

    /** Passes all that are here now on as they are, to another outbox or to this one; what cannot be passed on fails. */
    void moveTo(Consumer<ScriptCall> other, RedisErrors errors) {
        for (Iterator<ScriptCall> all = calls.iterator(); all.hasNext(); ) {
            ScriptCall call = all.next();
            if (calls.remove(call) && !call.isDone()) {
                try {
                    other.accept(call);
                } catch (Throwable broken) { // such as of memory
                    call.fail(broken, errors);
                }
            }
        }
    }

    /** Ends some of those without an answer, and keeps none that has ended. */
    void fail(Predicate<ScriptCall> which, RuntimeException why) {
        fail(calls, which, why);
    }

    /** The same for those that were sent. */
    static void fail(Set<ScriptCall> calls, Predicate<ScriptCall> which, RuntimeException why) {
        calls.forEach(call -> {
            if (which.test(call)) {
                call.fail(why);
            }
        });
        calls.removeIf(ScriptCall::isDone);
    }
}
