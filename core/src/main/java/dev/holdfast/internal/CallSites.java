package dev.holdfast.internal;

/**
 * Which callers of a client have their place in the code recorded: the first of every {@value #SAMPLE}, and each of the next
 * {@value #AFTER_A_REPORT} after a hold was leaked or a thread waited for itself. Walking the stack takes some 50 µs on a
 * machine that was idle, a third of the time in which a free lock is acquired; a caller that leaks holds does it more than
 * once. Netty looks for its leaked buffers in the same way. Thread-safe.
 */
final class CallSites {
    /** A prime, so that a program that takes its locks in turn does not always miss the same one. */
    static final int SAMPLE = 17;

    static final int AFTER_A_REPORT = 1_024;

    // Updates that are lost only shift the sample.
    private int callers;
    private volatile int each;

    /** The place of the next caller: to be recorded if it is one of the sample, else unknown. */
    CallSite next() {
        int left = each;
        if (left > 0) {
            each = left - 1;
            return new CallSite();
        }
        return callers++ % SAMPLE == 0 ? new CallSite() : CallSite.UNKNOWN;
    }

    /** The next callers are all recorded: something was reported whose place matters. */
    void recordEach() {
        each = AFTER_A_REPORT;
    }
}
