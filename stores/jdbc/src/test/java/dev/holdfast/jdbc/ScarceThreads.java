package dev.holdfast.jdbc;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;

/** Threads of a process that at times has as many as it may: then none starts. */
final class ScarceThreads implements BiFunction<String, Runnable, Thread> {
    private final AtomicBoolean none = new AtomicBoolean();

    void none(boolean now) {
        none.set(now);
    }

    @Override
    public Thread apply(String name, Runnable work) {
        Thread thread = new Thread(work, name) {
            @Override
            @SuppressWarnings("UnsynchronizedOverridesSynchronized") // it is so in Java 17 only
            public void start() {
                if (none.get()) {
                    throw new InternalError("unable to create native thread");
                }
                super.start();
            }
        };
        thread.setDaemon(true);
        return thread;
    }
}
