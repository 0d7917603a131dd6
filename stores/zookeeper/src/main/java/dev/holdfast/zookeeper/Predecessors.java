package dev.holdfast.zookeeper;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import dev.holdfast.zookeeper.Session.Listed;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.zookeeper.KeeperException.Code;

/**
 * The queue of claims before a lock, as one of them sees it: the earlier claims, and those whose end it has to wait
 * for.
 *
 * <p>Each waits for as few as can show that its turn may have come: an exclusive claim for the one before it, whatever
 * its mode; a shared one for the last before it that is not shared; one for some of {@code n} permits for the last few
 * before it whose permits leave too little. While all of those exist it cannot be its turn, so no claim is woken in
 * vain except by one that left the queue early; and since all that came before are counted, held or waiting, a large
 * claim is not starved by small ones, nor a writer by readers.
 */
final class Predecessors {
    /**
     * A claim joins only behind fewer than this. ZooKeeper's client refuses an answer of more than a megabyte and closes
     * its connection: 15,000 of the longest names, 21,000 of the usual ones.
     */
    static final int MOST_BEFORE = 12_000;

    private Predecessors() {}

    /**
     * A queue as it was read.
     *
     * @param names of all nodes
     * @param contended whether a claim waits
     */
    record Seen(Code code, Set<String> names, boolean contended) {
        static final Seen NOTHING = new Seen(Code.OK, Set.of(), false);

        static Seen of(Listed listed) {
            List<Node> queue = Predecessors.of(listed.children());
            return new Seen(
                    listed.code(),
                    Set.copyOf(listed.children()),
                    queue.size() > holders(queue).size());
        }
    }

    /** The claims among the children of a lock, in order; other people's nodes are passed over. */
    static List<Node> of(Collection<String> children) {
        List<Node> nodes = new ArrayList<>(children.size());
        for (String child : children) {
            Node.parse(child).ifPresent(nodes::add);
        }
        sort(nodes);
        return nodes;
    }

    /** The claims that came before one, in order; those that came later never matter to it. */
    static List<Node> before(Node mine, Collection<String> children) {
        List<Node> before = new ArrayList<>();
        for (String child : children) {
            Node node = child.equals(mine.name()) ? null : Node.parse(child).orElse(null); // mostly there is no other
            if (node != null && node.isBefore(mine)) {
                before.add(node);
            }
        }
        sort(before);
        return before;
    }

    /** The nodes of one claim, in order: more than one if a claim was made again and an earlier node is still there. */
    static List<Node> ofClaim(ClaimId id, Collection<String> children) {
        List<Node> nodes = new ArrayList<>();
        String text = id.value();
        for (String child : children) {
            if (child.contains(text)) {
                Node.parse(child).filter(node -> node.id().equals(id)).ifPresent(nodes::add);
            }
        }
        sort(nodes);
        return nodes;
    }

    /** The claims that a claim has to wait for; none when it is its turn. */
    static List<Node> blockers(Mode mode, List<Node> before) {
        if (mode instanceof Mode.Permits some) {
            return permitBlockers(some, before);
        }
        for (int i = before.size() - 1; i >= 0; i--) {
            if (mode instanceof Mode.Exclusive || !(before.get(i).mode() instanceof Mode.Shared)) {
                return List.of(before.get(i));
            }
        }
        return List.of();
    }

    private static List<Node> permitBlockers(Mode.Permits wanted, List<Node> before) {
        List<Node> blockers = new ArrayList<>();
        long taken = wanted.permits();
        for (int i = before.size() - 1; i >= 0 && taken <= wanted.of(); i--) {
            Node node = before.get(i);
            blockers.add(node);
            taken += node.mode() instanceof Mode.Permits some ? some.permits() : wanted.of();
        }
        return taken <= wanted.of() ? List.of() : blockers;
    }

    /** The claims of a queue that hold the lock: those without blockers, found in one pass. */
    static List<Node> holders(List<Node> queue) {
        List<Node> holders = new ArrayList<>();
        long permits = 0;
        long readers = 0;
        long writers = 0;
        for (Node node : queue) {
            boolean holds;
            if (node.mode() instanceof Mode.Permits some) {
                holds = permits + some.permits() + (readers + writers) * some.of() <= some.of();
                permits += some.permits();
            } else if (node.mode() instanceof Mode.Shared) {
                holds = permits + writers == 0;
                readers++;
            } else {
                holds = permits + readers + writers == 0;
                writers++;
            }
            if (holds) {
                holders.add(node);
            }
        }
        return holders;
    }

    /** The claims of a queue that wait, each once: a claim that was made again may have an earlier node for a while. */
    static List<Node> waiting(List<Node> queue) {
        Set<Node> holders = new HashSet<>(holders(queue));
        Set<ClaimId> known = new HashSet<>();
        holders.forEach(node -> known.add(node.id()));
        List<Node> waiting = new ArrayList<>();
        for (Node node : queue) {
            if (!holders.contains(node) && known.add(node.id())) {
                waiting.add(node);
            }
        }
        return waiting;
    }

    private static void sort(List<Node> nodes) {
        nodes.sort(Comparator.comparing(node -> node, (one, two) -> Integer.compareUnsigned(one.place(), two.place())));
    }
}
