package dev.holdfast.redis;

import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Predicate;

/**
 * Calls that a pipeline has sent, or is about to send, and that have no answer yet, in the order of their sending.
 * Thread-safe.
 */
final class SentCalls {
    private final Deque<ScriptCall> calls = new ConcurrentLinkedDeque<>();

    /** Keeps a call; one that is sent again is here already. */
    void add(ScriptCall call) {
        if (call.isNewTo(this)) {
            calls.add(call);
        }
    }

    /** Another pipeline has it from now on, or another call stands for it. */
    void remove(ScriptCall call) {
        calls.removeLastOccurrence(call); // mostly one of those that were added last
    }

    boolean isEmpty() {
        return calls.isEmpty();
    }

    /** Forgets the calls at the front that have ended. */
    void forgetDone() {
        for (ScriptCall first = calls.peek(); first != null && first.isDone(); first = calls.peek()) {
            calls.remove(first);
        }
    }

    /** Ends some calls without an answer. */
    void fail(Predicate<ScriptCall> which, RuntimeException why) {
        for (ScriptCall call : calls) {
            if (!call.isDone() && which.test(call)) {
                call.fail(why);
            }
        }
        forgetDone();
    }

    /** Whether any call without an answer matches. */
    boolean anyMatch(Predicate<ScriptCall> which) {
        return calls.stream().anyMatch(call -> !call.isDone() && which.test(call));
    }

    /** Lettuce forgets their commands; each call then fails, or is sent again from the outbox. */
    void cancelCommands() {
        for (ScriptCall call : calls) {
            try {
                call.cancelCommand();
            } catch (Throwable ignored) { // such as of memory: it ends when it is late, and Lettuce repeats no other
            }
        }
    }

    void clear() {
        calls.clear();
    }
}
