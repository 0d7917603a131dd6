package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.cluster.SlotHash;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The node that has each slot of a cluster, as one node reported.
 *
 * @param bySlot the master of each slot; null where no node has it
 * @param masters the nodes that have a slot
 * @param all the masters and their replicas
 */
record SlotOwners(List<@Nullable NodeAddress> bySlot, Set<NodeAddress> masters, Set<NodeAddress> all) {
    /**
     * Reads the answer to CLUSTER SLOTS: ranges of FROM, TO, the master and its replicas, each node as HOST, PORT and
     * more.
     *
     * @param source the node that was asked
     */
    static SlotOwners parse(List<?> said, NodeAddress source) {
        @Nullable NodeAddress[] bySlot = new NodeAddress[SlotHash.SLOT_COUNT];
        Set<NodeAddress> masters = new HashSet<>();
        Set<NodeAddress> all = new HashSet<>();
        for (Object range : said) {
            List<?> fields = (List<?>) range;
            NodeAddress master = node(fields.get(2), source);
            masters.add(master);
            fields.subList(2, fields.size()).forEach(node -> all.add(node(node, source)));
            Arrays.fill(bySlot, number(fields.get(0)), number(fields.get(1)) + 1, master);
        }
        return new SlotOwners(Arrays.asList(bySlot), masters, all);
    }

    /** How many slots some node has. */
    int served() {
        return (int) bySlot.stream().filter(Objects::nonNull).count();
    }

    private static NodeAddress node(Object entry, NodeAddress source) {
        List<?> fields = (List<?>) entry;
        Object host = fields.get(0);
        return NodeAddress.of(host == null ? "" : text(host), number(fields.get(1)), source);
    }

    private static int number(Object field) {
        return Math.toIntExact((Long) field);
    }

    private static String text(Object field) {
        return field instanceof byte[] bytes ? new String(bytes, UTF_8) : field.toString();
    }
}
