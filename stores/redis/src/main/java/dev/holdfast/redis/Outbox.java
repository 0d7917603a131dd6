package dev.holdfast.redis;

import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Calls that were asked for and not sent yet: for a moment, or for as long as there is no connection. While a release is
 * to be sent again, the claims of its lock stay here until it is back, before them: they would find the hold that their own
 * client has ended. Thread-safe.
 */
final class Outbox {
    private static final int ALONE = -1;

    private final Deque<ScriptCall> calls = new ConcurrentLinkedDeque<>();
    /** The releases that will be back, by their locks. */
    private final Map<String, Set<ScriptCall>> awaited = new ConcurrentHashMap<>();

    void add(ScriptCall call) {
        if (awaited.isEmpty() || !isAwaited(call)) {
            calls.addLast(call);
            return;
        }
        calls.addFirst(call);
        expectNoMore(call); // only now: a claim of its lock may be taken at once
    }

    /** It will not be added again, or has been. */
    void expectNoMore(ScriptCall call) {
        awaited.computeIfPresent(nameOf(call), (name, all) -> {
            all.remove(call);
            return all.isEmpty() ? null : all;
        });
    }

    /** A call that was taken from here will be added again. */
    void expect(ScriptCall sentAgain) {
        if (sentAgain.isRelease()) {
            awaited.compute(nameOf(sentAgain), (name, others) -> {
                Set<ScriptCall> all = others == null ? ConcurrentHashMap.newKeySet() : others;
                all.add(sentAgain);
                return all;
            });
        }
    }

    private boolean isAwaited(ScriptCall call) {
        return awaited.getOrDefault(nameOf(call), Set.of()).contains(call);
    }

    private boolean staysBehind(ScriptCall call) {
        return call.isClaim()
                && awaited.getOrDefault(nameOf(call), Set.of()).stream().anyMatch(release -> !release.isDone());
    }

    private static String nameOf(ScriptCall call) {
        String name = call.name();
        return name == null ? "" : name;
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
        for (Iterator<ScriptCall> all = calls.iterator(); all.hasNext(); ) {
            ScriptCall call = all.next();
            if (call.isDone()) {
                all.remove(); // given up
                continue;
            }
            if (!awaited.isEmpty() && staysBehind(call)) {
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
        for (int left = calls.size(); left > 0; left--) {
            ScriptCall call = calls.poll();
            if (call != null && !call.isDone()) {
                try {
                    other.accept(call);
                } catch (Throwable broken) { // such as of memory
                    call.fail(errors.of(broken));
                }
            }
        }
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
