package dev.holdfast.jdbc;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The clients of this process that receive offers, by their channels: they are notified without the database. Channels are
 * random, so one map serves all stores. Thread-safe.
 */
final class LocalOffers {
    private static final Map<String, Consumer<String>> LISTENERS = new ConcurrentHashMap<>();

    private LocalOffers() {}

    static void register(String channel, Consumer<String> listener) {
        LISTENERS.put(channel, listener);
    }

    static void unregister(String channel) {
        LISTENERS.remove(channel);
    }

    /** Those that are not in this process. */
    static List<WaiterEntry> elsewhere(List<WaiterEntry> offered) {
        return offered.isEmpty()
                ? offered
                : offered.stream()
                        .filter(each -> !LISTENERS.containsKey(each.channel()))
                        .toList();
    }

    /** Tells those that are in this process; they only take note of it. */
    static void notifyLocal(List<WaiterEntry> offered) {
        for (WaiterEntry each : offered) {
            Consumer<String> listener = LISTENERS.get(each.channel());
            if (listener != null) {
                listener.accept(each.id());
            }
        }
    }
}
