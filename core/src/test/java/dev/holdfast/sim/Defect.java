package dev.holdfast.sim;

/**
 * Mistakes that a lock engine is easily made with, as edits of our own source: the text on the left must occur there
 * exactly once. The simulation must find each of them.
 */
enum Defect {
    DEADLINE_COUNTED_FROM_THE_REPLY(
            "internal/LiveGrant",
            "Validity.confirmed(grant, grant.sentNanos(), wallLeadWhenSent)",
            "Validity.confirmed(grant, time.nanoTime(), wallLeadWhenSent)",
            500),
    RENEWAL_THAT_COMPARES_NO_ID(
            "memory/MemoryLock",
            "return held == null || held.number != grant.number() ? null : held;",
            "return holders.values().stream().findFirst().orElse(null);",
            500),
    HAND_OVER_WITH_LITTLE_LEASE_LEFT(
            "internal/LiveGrant",
            "return remaining() >= nanosOf(grant().lease()) / 3;",
            "return remaining() > 0;",
            500),
    INDEX_REUSED_AFTER_A_REFUSED_NUMBER(
            "internal/Refresh",
            "Grant fresh = answer.orElse(null);",
            "Grant fresh = answer.orElse(null); if (fresh == null) { return true; }",
            500),
    RELEASE_RETRIED_WITHOUT_ID(
            "internal/Returns",
            "() -> guarded(() -> store.release(grant.grant()))",
            "() -> guarded(() -> store.revoke(grant.grant().name(), true))",
            500),
    LOSS_TOLD_AFTER_A_RIVALS_GRANT(
            "internal/LocalQueue",
            "engine.observer().lost(loser);",
            "engine.time().schedule(() -> { engine.observer().lost(loser); engine.observer().flush(); },"
                    + " loser.options.lease().dividedBy(20));",
            500),
    WAITER_LOST_ON_CANCEL(
            "internal/LocalLock",
            "return both(of.claim.waits() ? NOTHING : refuse(of.asker), next());",
            "return of.claim.waits() ? NOTHING : both(refuse(of.asker), next());",
            500);

    /** Which class, below {@code dev.holdfast}. */
    final String type;

    private final String sound;
    private final String broken;
    /** Within how many schedules it must be found. */
    final long schedules;

    Defect(String type, String sound, String broken, long schedules) {
        this.type = type;
        this.sound = sound;
        this.broken = broken;
        this.schedules = schedules;
    }

    /** The source with the mistake in it. */
    String in(String source) {
        int at = source.indexOf(sound);
        if (at < 0 || source.indexOf(sound, at + 1) >= 0) {
            throw new IllegalStateException("the text that " + this + " changes occurs "
                    + (at < 0 ? "no more" : "more than once") + " in " + type
                    + ".java; find what does the same now, and put it into Defect.java:\n" + sound);
        }
        return source.substring(0, at) + broken + source.substring(at + sound.length());
    }
}
