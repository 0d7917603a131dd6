package dev.holdfast.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;

/**
 * Passes the events of a session's nodes on. The client library keeps each watcher that it was given until the node
 * changes, and would so collect one for every wait that timed out behind the same holder. It is given this one watcher
 * instead, and whoever waits no longer is forgotten here. Thread-safe.
 */
final class NodeWatches implements Watcher {
    private final Map<String, List<Watcher>> byPath = new ConcurrentHashMap<>();

    void add(String path, Watcher watcher) {
        byPath.compute(path, (same, watchers) -> {
            List<Watcher> more = watchers == null ? new ArrayList<>(1) : watchers;
            if (!more.contains(watcher)) {
                more.add(watcher);
            }
            return more;
        });
    }

    void remove(String path, Watcher watcher) {
        byPath.computeIfPresent(path, (same, watchers) -> {
            watchers.remove(watcher);
            return watchers.isEmpty() ? null : watchers;
        });
    }

    /** How many wait for events. */
    int size() {
        return byPath.values().stream().mapToInt(List::size).sum();
    }

    @Override
    public void process(WatchedEvent event) {
        if (event.getType() == EventType.None || event.getPath() == null) {
            return; // of the connection, which Connection hears as well
        }
        List<Watcher> watchers = byPath.remove(event.getPath());
        if (watchers != null) {
            watchers.forEach(each -> each.process(event));
        }
    }
}
