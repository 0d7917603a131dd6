package dev.holdfast.cli;

import dev.holdfast.Holder;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    private final Map<Party, List<String>> held = new HashMap<>();
    private final Map<Long, Set<String>> outer = new HashMap<>();

    /** A thread of a process. */
    private record Party(String host, long pid, String thread) {
        static Party of(Holder who) {
            return new Party(who.host(), who.pid(), who.thread());
        }
    }

    private Circles(Snapshot snapshot) {
        this.snapshot = snapshot;
        snapshot.locks()
                .values()
                .forEach(lock -> lock.grant()
                        .filter(grant -> isThread(grant.holder()))
                        .ifPresent(grant -> held.computeIfAbsent(Party.of(grant.holder()), party -> new ArrayList<>())
                                .add(lock.name())));
    }

    /** Each circle as the names of its locks, beginning with the first of them by name. */
    static List<List<String>> in(Snapshot snapshot) {
        Circles circles = new Circles(snapshot);
        snapshot.queues().values().forEach(queue -> queue.forEach(circles::connect));
        return circles.found();
    }

    /** An edge from each lock that a waiter has to the lock that it waits for. */
    private void connect(LockWaiter waiter) {
        if (isThread(waiter.who())) {
            held.getOrDefault(Party.of(waiter.who()), List.of()).forEach(name -> connect(name, waiter.name()));
        }
        if (waiter.who().host().equals(host)) {
            outer.computeIfAbsent(waiter.who().pid(), this::outerLocks).forEach(name -> connect(name, waiter.name()));
        }
    }

    /** All asynchronous claims of a process, its elections too, bear one name, and virtual threads none: they are many parties. */
    private static boolean isThread(Holder who) {
        return !who.thread().isEmpty() && !who.thread().equals("async");
    }

    private void connect(String from, String to) {
        if (grant(from, snapshot)
                .filter(held -> held.mode() == LockMode.PERMITS)
                .isPresent()) {
            return; // one of several holders is shown, and the end of any other lets the next one in
        }
        next.computeIfAbsent(from, name -> new TreeSet<>()).add(to);
    }

    /** The locks under which a process of this machine runs: that of its {@code holdfast run}, and those around that. */
    private Set<String> outerLocks(long pid) {
        Set<String> found = new TreeSet<>();
        Deque<Long> inside = new ArrayDeque<>(List.of(pid));
        while (!inside.isEmpty()) {
            for (HeldAbove above : HeldAbove.of(inside.remove())) {
                LockStatus.Held grant = grant(above.name(), snapshot).orElse(null);
                if (grant != null
                        && above.isOf(grant.token())
                        && found.add(above.name())
                        && grant.holder().host().equals(host)) { // another machine's process ids are not ours
                    inside.add(grant.holder().pid());
                }
            }
        }
        return found;
    }

    private static Optional<LockStatus.Held> grant(String name, Snapshot snapshot) {
        return Optional.ofNullable(snapshot.locks().get(name)).flatMap(LockStatus::grant);
    }

    private List<List<String>> found() {
        Set<List<String>> circles = new LinkedHashSet<>();
        Set<String> done = new HashSet<>();
        for (String start : next.keySet()) {
            walk(start, done, circles);
        }
        return List.copyOf(circles);
    }

    /** In depth, without recursion: thousands may wait one behind the other. */
    private void walk(String start, Set<String> done, Set<List<String>> circles) {
        List<String> path = new ArrayList<>();
        Map<String, Integer> places = new HashMap<>();
        Deque<Iterator<String>> branches =
                new ArrayDeque<>(List.of(List.of(start).iterator()));
        while (!branches.isEmpty()) {
            if (branches.peek().hasNext()) {
                String at = branches.peek().next();
                Integer seen = places.get(at);
                if (seen != null) {
                    circles.add(fromTheFirst(path.subList(seen, path.size())));
                } else if (done.add(at)) {
                    places.put(at, path.size());
                    path.add(at);
                    branches.push(next.getOrDefault(at, Set.of()).iterator());
                }
            } else {
                branches.pop();
                if (!path.isEmpty()) {
                    places.remove(path.remove(path.size() - 1));
                }
            }
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
            String holder = grant(circle.get(i), snapshot)
                    .map(held -> Snapshot.party(held.holder()))
                    .orElse("?");
            steps.add("'" + circle.get(i) + "' is held by " + holder + ", which waits for '"
                    + circle.get((i + 1) % circle.size()) + "'");
        }
        return Printable.text(String.join("; ", steps));
    }
}
