package dev.holdfast.internal;

/**
 * Which callers of a client have their place in the code recorded: the first of every {@value #SAMPLE}, and all of them once
 * a hold was leaked or a thread waited for itself. Walking the stack takes some 50 µs on a machine that was idle, a third of
 * the time in which a free lock is acquired; a caller that leaks holds does it more than once. Netty looks for its leaked
 * buffers in the same way. Thread-safe.
 */
final class CallSites {
    static final int SAMPLE = 16;

    private int callers; // a lost update only shifts the sample
    private volatile boolean all;

    /** Records where a caller asks, if it is one of the sample; on its thread, after its claim was sent. */
    void sample(CallSite site) {
        if (all || callers++ % SAMPLE == 0) {
            site.record();
        }
    }

    /** From now on each caller is recorded: something was reported whose place matters. */
    void recordAll() {
        all = true;
    }
}
