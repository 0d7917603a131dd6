package dev.holdfast.testbed;

import java.util.HashMap;
import java.util.Map;

/** Live threads, with what each is doing. Virtual threads are not among those the JVM lists. */
record WatchedThreads(String prefix) implements Watched {
    private static final int FRAMES = 8;

    @Override
    public String name() {
        return "thread";
    }

    @Override
    public Map<String, String> present() {
        Map<String, String> present = new HashMap<>();
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            if (thread.getName().startsWith(prefix)) {
                // By identity: the id could be overridden, and a name be given twice.
                present.put(thread.getName() + "@" + System.identityHashCode(thread), describe(thread, frames));
            }
        });
        return present;
    }

    private static String describe(Thread thread, StackTraceElement[] frames) {
        StringBuilder text = new StringBuilder(thread.getName()).append(", ").append(thread.getState());
        for (int i = 0; i < Math.min(FRAMES, frames.length); i++) {
            text.append("\n    at ").append(frames[i]);
        }
        return text.toString();
    }
}
