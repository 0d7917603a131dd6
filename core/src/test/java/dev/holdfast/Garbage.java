package dev.holdfast;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/** What nobody refers to any more, collected, and told to those who wait for it. */
final class Garbage {
    private static final long MILLIS = 20;

    private Garbage() {}

    /** Returns when an object that was dropped at the call has come up in its queue. */
    static void collect() throws InterruptedException {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        WeakReference<Object> dropped = new WeakReference<>(new Object(), queue);
        do {
            System.gc();
        } while (queue.remove(MILLIS) != dropped);
    }
}
