package dev.holdfast.zookeeper;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.support.Queued;
import dev.holdfast.zookeeper.Session.Listed;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.apache.zookeeper.KeeperException.Code;

/** The queue of claims before a lock, as one of them sees it: the earlier claims. */
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
            return new Seen(
                    listed.code(),
                    Set.copyOf(listed.children()),
                    Queued.isContended(Predecessors.of(listed.children())));
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

    private static void sort(List<Node> nodes) {
        nodes.sort(Comparator.comparing(node -> node, (one, two) -> Integer.compareUnsigned(one.place(), two.place())));
    }
}
