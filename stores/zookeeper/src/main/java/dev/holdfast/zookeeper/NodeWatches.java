package dev.holdfast.zookeeper;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;

/**
 * Passes the events of a session's nodes on. The client library keeps each watcher that it was given until the node
 * changes, and would so collect one for every wait that timed out behind the same holder. It is given this one watcher
 * instead, and a waiter that no longer waits is removed here.
 *
 * <p>When the connection breaks, requests fail one after the other, and the failure of the first may have the same watcher
 * ask for the same node again before the second has failed. So each request has an identity, and a failure forgets the
 * watcher only if that was its last request. Thread-safe.
 */
final class NodeWatches implements Watcher {
    /** The servers watch: a later failure no longer changes that. */
    private static final Object SET = new Object();

    /** The last request of each watcher, or that its watch is set; by the path of its node. */
    private final Map<String, Map<Watcher, Object>> byPath = new ConcurrentHashMap<>();

    /** Adds a watcher; returns the identity of this request, for {@link #failed}. */
    Object add(String path, Watcher watcher) {
        Object request = new Object();
        byPath.compute(path, (same, watchers) -> {
            Map<Watcher, Object> more = watchers == null ? new LinkedHashMap<>(2) : watchers;
            more.merge(watcher, request, (last, next) -> last == SET ? SET : next);
            return more;
        });
        return request;
    }

    /** A request of this watcher was answered. */
    void answered(String path, Watcher watcher) {
        byPath.computeIfPresent(path, (same, watchers) -> {
            watchers.replace(watcher, SET);
            return watchers;
        });
    }

    /** Forgets a watcher whose request failed, unless it has asked again since, or watches already. */
    void failed(String path, Watcher watcher, Object request) {
        byPath.computeIfPresent(path, (same, watchers) -> {
            watchers.remove(watcher, request);
            return watchers.isEmpty() ? null : watchers;
        });
    }

    void remove(String path, Watcher watcher) {
        byPath.computeIfPresent(path, (same, watchers) -> {
            watchers.remove(watcher);
            return watchers.isEmpty() ? null : watchers;
        });
    }

    /** How many watchers wait for events. */
    int size() {
        return byPath.values().stream().mapToInt(Map::size).sum();
    }

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() == EventType.None || event.getPath() == null) {
            return; // of the connection, which Connection receives as well
        }
        Map<Watcher, Object> watchers = byPath.remove(event.getPath());
        if (watchers != null) {
            List.copyOf(watchers.keySet()).forEach(each -> each.process(event));
        }
    }
}
