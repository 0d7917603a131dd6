package dev.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import io.etcd.jetcd.ByteSequence;

/**
 * The keys of a store, all under one root. Names are written as they are: they have no control characters, so that the
 * character zero ends them.
 *
 * <pre>
 *   /holdfast/layout                  the version of all this
 *   /holdfast/locks/NAME 0 x-ID       an exclusive claim; s-ID is a shared one, p1of3-ID one of three permits
 *   /holdfast/sessions/LEASE          only after a claim, or the write of a record, without an answer; see {@link Session}
 *   /holdfast/records/NAME            a record
 *   /holdfast/fences/NAME             the highest token that an {@link EtcdFence} has admitted
 * </pre>
 *
 * @param prefix before {@code /holdfast}; empty, or a path without a slash at its end
 */
record Keys(String prefix) {
    /** Ends the name of a lock. */
    static final char END = 0;

    String root() {
        return prefix + "/holdfast/";
    }

    String locks() {
        return root() + "locks/";
    }

    String records() {
        return root() + "records/";
    }

    ByteSequence layout() {
        return bytes(root() + "layout");
    }

    ByteSequence session(long lease) {
        return bytes(root() + "sessions/" + Long.toHexString(lease));
    }

    ByteSequence fence(String resource) {
        return bytes(root() + "fences/" + resource);
    }

    ByteSequence record(String name) {
        return bytes(records() + name);
    }

    /** How the keys of all claims of a name begin. */
    ByteSequence queue(String name) {
        return bytes(locks() + name + END);
    }

    ByteSequence claim(String name, Mode mode, ClaimId id) {
        return bytes(locks() + name + END + kind(mode) + "-" + id);
    }

    static ByteSequence bytes(String text) {
        return ByteSequence.from(text, UTF_8);
    }

    /** How the keys of all exclusive claims of a name begin. */
    ByteSequence exclusive(String name) {
        return bytes(locks() + name + END + "x-");
    }

    /** How the keys of all claims of permits of a name begin. */
    ByteSequence permits(String name) {
        return bytes(locks() + name + END + "p");
    }

    private static String kind(Mode mode) {
        if (mode instanceof Mode.Permits some) {
            return "p" + some.permits() + "of" + some.of();
        }
        return mode instanceof Mode.Shared ? "s" : "x";
    }
}
