package dev.holdfast.cli;

import dev.holdfast.Holder;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Finds circles of waiting: who holds a lock waits for another, whose holder waits for the first.
 *
 * <pre>
 *   a is held by P, which waits for b        a ──► b
 *   b is held by Q, which waits for a        b ──► a        the circle: a, b
 * </pre>
 *
 * <p>One party is a thread of a process; and on this machine, what runs under a lock is recognised by the variables that
 * {@code holdfast run} sets, so that commands that call {@code holdfast run} themselves are seen through.
 */
final class Circles {
    private final Snapshot snapshot;
    private final String host = ThisHost.name();
    private final Map<String, Set<String>> next = new TreeMap<>();

    private Circles(Snapshot snapshot) {
        this.snapshot = snapshot;
    }

    /** Each circle as the names of its locks, beginning with the first of them by name. */
    static List<List<String>> in(Snapshot snapshot) {
        Circles circles = new Circles(snapshot);
        snapshot.queues().values().forEach(queue -> queue.forEach(circles::connect));
        return circles.found();
    }

    /** An edge from each lock that a waiter has to the lock that it waits for. */
    private void connect(LockWaiter waiter) {
        for (LockStatus lock : snapshot.locks().values()) {
            lock.grant()
                    .filter(held -> isSame(held.holder(), waiter.who()))
                    .ifPresent(held -> connect(lock.name(), waiter.name()));
        }
        outerLocks(waiter.who(), new TreeSet<>()).forEach(outer -> connect(outer, waiter.name()));
    }

    private void connect(String held, String wanted) {
        next.computeIfAbsent(held, name -> new TreeSet<>()).add(wanted);
    }

    private static boolean isSame(Holder one, Holder other) {
        return one.pid() == other.pid()
                && one.host().equals(other.host())
                && one.thread().equals(other.thread());
    }

    /** The locks under which a process of this machine runs: that of its {@code holdfast run}, and those around that. */
    private Set<String> outerLocks(Holder who, Set<String> known) {
        if (!who.host().equals(host)) {
            return known;
        }
        for (HeldAbove above : HeldAbove.of(who.pid())) {
            LockStatus lock = snapshot.locks().get(above.name());
            LockStatus.Held held = lock == null ? null : lock.grant().orElse(null);
            if (held != null && above.isOf(held.token()) && known.add(above.name())) {
                outerLocks(held.holder(), known);
            }
        }
        return known;
    }

    private List<List<String>> found() {
        Set<List<String>> circles = new LinkedHashSet<>();
        Set<String> done = new TreeSet<>();
        for (String start : next.keySet()) {
            walk(start, new ArrayList<>(), done, circles);
        }
        return List.copyOf(circles);
    }

    private void walk(String at, List<String> path, Set<String> done, Set<List<String>> circles) {
        int seen = path.indexOf(at);
        if (seen >= 0) {
            circles.add(fromTheFirst(path.subList(seen, path.size())));
        } else if (!done.contains(at)) {
            path.add(at);
            next.getOrDefault(at, Set.of()).forEach(further -> walk(further, path, done, circles));
            path.remove(path.size() - 1);
            done.add(at);
        }
    }

    private static List<String> fromTheFirst(List<String> circle) {
        int first = 0;
        for (int i = 1; i < circle.size(); i++) {
            first = circle.get(i).compareTo(circle.get(first)) < 0 ? i : first;
        }
        List<String> turned = new ArrayList<>(circle.subList(first, circle.size()));
        turned.addAll(circle.subList(0, first));
        return turned;
    }

    /** For people: {@code 'a' is held by P, which waits for 'b'; …}. */
    static String shown(List<String> circle, Snapshot snapshot) {
        List<String> steps = new ArrayList<>();
        for (int i = 0; i < circle.size(); i++) {
            LockStatus lock = snapshot.locks().get(circle.get(i));
            String holder = lock == null
                    ? "?"
                    : lock.grant().map(held -> Snapshot.party(held.holder())).orElse("?");
            steps.add("'" + circle.get(i) + "' is held by " + holder + ", which waits for '"
                    + circle.get((i + 1) % circle.size()) + "'");
        }
        return Printable.text(String.join("; ", steps));
    }
}
