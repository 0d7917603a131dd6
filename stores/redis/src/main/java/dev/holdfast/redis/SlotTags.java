package dev.holdfast.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.lettuce.core.cluster.SlotHash;

/** For each slot of a cluster, a short text that lies in it. */
final class SlotTags {
    /** The texts as numbers of the radix 36: found by trying one after the other, which takes some milliseconds. */
    private static final int[] BY_SLOT = new int[SlotHash.SLOT_COUNT];

    static {
        for (int missing = BY_SLOT.length, tag = 1; missing > 0; tag++) {
            int slot = SlotHash.getSlot(text(tag).getBytes(US_ASCII));
            if (BY_SLOT[slot] == 0) {
                BY_SLOT[slot] = tag;
                missing--;
            }
        }
    }

    private SlotTags() {}

    static String of(int slot) {
        return text(BY_SLOT[slot]);
    }

    private static String text(int tag) {
        return Integer.toString(tag, Character.MAX_RADIX);
    }
}
