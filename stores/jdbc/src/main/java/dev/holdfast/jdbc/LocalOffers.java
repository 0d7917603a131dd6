package dev.holdfast.jdbc;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The clients of this process that hear offers, by their channels: they are told without the database. Channels are
 * random, so one map serves all stores. Thread-safe.
 */
final class LocalOffers {
    private static final Map<String, Consumer<String>> HERE = new ConcurrentHashMap<>();

    private LocalOffers() {}

    static void hang(String channel, Consumer<String> heard) {
        HERE.put(channel, heard);
    }

    static void takeDown(String channel) {
        HERE.remove(channel);
    }

    /** Those that are not in this process. */
    static List<WaiterEntry> elsewhere(List<WaiterEntry> offered) {
        return offered.isEmpty()
                ? offered
                : offered.stream()
                        .filter(each -> !HERE.containsKey(each.channel()))
                        .toList();
    }

    /** Tells those that are in this process; they only take note of it. */
    static void ring(List<WaiterEntry> offered) {
        for (WaiterEntry each : offered) {
            Consumer<String> heard = HERE.get(each.channel());
            if (heard != null) {
                heard.accept(each.id());
            }
        }
    }
}
