package dev.holdfast.tck.fuzz;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Pending;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A claim of the script and what became of it. */
final class Claimed {
    final int label;
    final FuzzClient owner;
    final int name;
    final Claim claim;
    final Call call;
    /** As it holds now: a writer may have become a reader. */
    Mode mode;

    @Nullable
    Pending pending;

    @Nullable
    Grant grant;

    /** When the last answer said so. */
    private long grantedAt;

    /** The store lets it hold until then, at least. */
    long validUntil;
    /** Its client is sure until then that it holds. */
    long sureUntil;

    /** The numbers that it had before, and until when. */
    private final Map<Long, Long> replaced = new HashMap<>();

    boolean ended;
    /** It was repeated while it was released or found to be lost, and may hold again. */
    boolean mayStand;
    /** Nothing of it is stored any more. */
    boolean gone;

    boolean broken;
    boolean unknown;

    Claimed(int label, FuzzClient owner, int name, Claim claim, Call call) {
        this.label = label;
        this.owner = owner;
        this.name = name;
        this.claim = claim;
        this.call = call;
        this.mode = claim.mode();
    }

    /** It was given that grant. */
    void take(Grant fresh, long at) {
        if (grant != null && grant.number() != fresh.number()) {
            replaced.put(grant.number(), at);
        }
        grant = fresh;
        grantedAt = at;
    }

    /** Whether the number of its grant became known after that. */
    boolean wasGrantedAfter(long then) {
        return grantedAt > then;
    }

    /** The number of its grant. */
    long number() {
        return Objects.requireNonNull(grant).number();
    }

    /** Whether its number was that one at some moment since. */
    boolean hadNumber(long number, long since) {
        return number == number() || replaced.getOrDefault(number, Long.MIN_VALUE) >= since;
    }

    void breaks() {
        broken = true;
        validUntil = 0;
        sureUntil = 0;
    }
}
