package dev.holdfast.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Calls that were asked for and not sent yet: for a moment, or for as long as there is no connection. Thread-safe. */
final class Outbox {
    private final Queue<ScriptCall> calls = new ConcurrentLinkedQueue<>();

    void add(ScriptCall call) {
        calls.add(call);
    }

    boolean isEmpty() {
        return calls.isEmpty();
    }

    /**
     * Takes all that are still awaited; of a lock whose release is followed by a claim, one call for both. Each is kept
     * among those that were sent before it is taken from here, so that an Error on the way loses none.
     *
     * @param again sends a claim by itself
     */
    List<ScriptCall> takeAll(SentCalls sent, Consumer<ScriptCall> again) {
        List<ScriptCall> batch = new ArrayList<>();
        Map<String, Integer> released = null;
        for (ScriptCall call = calls.peek(); call != null; call = calls.peek()) {
            if (call.isDone()) {
                calls.remove(call); // given up
                continue;
            }
            String name = call.name();
            Integer before = name == null || released == null ? null : released.remove(name);
            // one that was sent before stays by itself: as part of another request its answer would not say so
            boolean isNew = !call.wasSent();
            boolean joins = before != null && isNew && call.isExclusiveClaim();
            ScriptCall taken = joins ? batch.get(before).with(call, again) : call;
            sent.add(taken);
            if (!calls.remove(call)) {
                sent.remove(taken); // another pipeline has it, since this one was retired
            } else if (joins) {
                sent.remove(batch.set(before, taken));
            } else {
                if (isNew && name != null && call.isExclusiveRelease()) {
                    released = released == null ? new HashMap<>() : released;
                    released.put(name, batch.size());
                }
                batch.add(call);
            }
        }
        return batch;
    }

    /** Takes all as they are, for another outbox. */
    void moveTo(Consumer<ScriptCall> other) {
        List<ScriptCall> taken = new ArrayList<>();
        for (ScriptCall call = calls.poll(); call != null; call = calls.poll()) {
            if (!call.isDone()) {
                taken.add(call);
            }
        }
        taken.forEach(other); // only now: it may add to these
    }

    /** Ends those without an answer, and keeps none that has ended. */
    void fail(Predicate<ScriptCall> which, RuntimeException why) {
        calls.forEach(call -> {
            if (which.test(call)) {
                call.fail(why);
            }
        });
        calls.removeIf(ScriptCall::isDone);
    }
}
