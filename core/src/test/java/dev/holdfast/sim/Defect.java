package dev.holdfast.sim;

/**
 * Mistakes that a lock engine is easily made with, as edits of our own source: the text on the left must occur there
 * exactly once. The simulation must find each of them.
 */
enum Defect {
    DEADLINE_COUNTED_FROM_THE_REPLY(
            "internal/GrantState",
            "new Validity(grant, grant.sentNanos(), sleptWhenSent)",
            "new Validity(grant, time.nanoTime(), sleptWhenSent)",
            500),
    RENEWAL_THAT_COMPARES_NO_ID(
            "memory/MemoryLock",
            "return held == null || held.number != grant.number() ? null : held;",
            "return holders.values().stream().findFirst().orElse(null);",
            500),
    HAND_OVER_WITH_LITTLE_LEASE_LEFT(
            "internal/GrantState",
            "return remaining() >= Durations.nanos(fixed == null ? grant().lease() : fixed.lease) / 3;",
            "return remaining() > 0;",
            500,
            102),
    INDEX_REUSED_AFTER_A_REFUSED_NUMBER(
            "internal/LeaseRenewer",
            "Grant fresh = answer.orElse(null);",
            "Grant fresh = answer.orElse(null); if (fresh == null) { return true; }",
            500,
            10),
    RELEASE_RETRIED_WITHOUT_ID(
            "internal/ReleaseSender",
            "new RepeatedRequest(() -> store.release(grant),",
            "new RepeatedRequest(() -> store.status(grant.name()).thenCompose(seen -> store.breakGrant("
                    + "grant.name(), seen.grant().map(held -> Tokens.number(held.token())).orElse(0L), true)),",
            500),
    LOSS_TOLD_AFTER_A_RIVALS_GRANT(
            "internal/WaitQueue",
            "Runnable count = () -> engine.telemetry.lost(loser);",
            "Runnable count = () -> engine.time.schedule("
                    + "() -> { engine.telemetry.lost(loser); engine.telemetry.flush(); },"
                    + " loser.options.lease().dividedBy(20));",
            500),
    WAITER_LOST_ON_CANCEL(
            "internal/WaitQueue",
            "if (live == null) {\n            next(then);",
            "if (live == null) { if (why == null && of.claim.waits()) { return; }\n            next(then);",
            500),
    READERS_JOIN_WITHOUT_ASKING_FOR_WRITERS(
            "internal/SharedGrant", "&& now() - openedAt <= Durations.nanos(options.maxHandOverTime());", ";", 500, 20),
    READER_JOINS_BEHIND_A_WRITER(
            "internal/SharedQueue",
            "return grant.suits(waiter) && !isBehindWriter(waiter);",
            "return grant.suits(waiter);",
            500),
    READER_CLAIMS_BEFORE_A_WRITER("internal/SharedQueue", " || isBehindWriterToClaim(first)) {", ") {", 2_000, 248),
    READER_TAKES_THE_PLACE_OF_ONE_WHO_LEFT(
            "internal/SharedQueue",
            "writersBefore(first).allMatch(writer -> writer.since - waiting.asker.since <= 0)",
            "true",
            4_000,
            1_297),
    READER_BEHIND_A_WRITER_FORGOTTEN(
            "internal/LocalLock",
            "if (side != null && !side.waiters.isEmpty()) {",
            "if (side != null && retired) {",
            2_000,
            185),
    GRANT_GIVEN_BACK_WITH_THE_FIRST_READER(
            "internal/SharedGrant", """
        if (isFree()) {
            freed(closing.options.awaitRelease(), givenBack, then);
        }
""", "freed(closing.options.awaitRelease(), givenBack, then);", 500, 119),
    PERMIT_HANDED_OVER_THOUGH_ITS_GRANT_IS_LOST(
            "internal/SharedGrant",
            """
                && state.isValid()
                && state.fits(waiter.options)
                && (state.isFresh() || (state.hasEnoughLease() && hasRoomFor(waiter.options)));
""",
            "&& state.fits(waiter.options) && (state.isFresh() || hasRoomFor(waiter.options));",
            500,
            402),
    PERMITS_COUNTED_WITHOUT_THE_NEXT("memory/MemoryLock", "out + some.permits() > some.of()", "out > some.of()", 500),
    NAMES_OUT_OF_TURN_NOT_GIVEN_BACK("internal/MultiAcquisition", "giveBack(outOfTurn);", "", 500),
    ALL_HELD_BUT_NOT_AT_ONE_MOMENT(
            "internal/MultiAcquisition",
            "if (held.stream().allMatch(HoldHandle::isValid)) {",
            "if (true) {",
            2_000,
            35),
    TRY_REFUSED_BEHIND_A_CLAIM_CALLED_OFF("internal/ExclusiveQueue", " && unwanted() == null;", ";", 1_000, 186),
    TRY_REFUSED_BEHIND_A_TRY_THAT_WAS_GIVEN_UP(
            "internal/ExclusiveQueue",
            "(sent.claim.waits() || sent.asker.outcome() != null)",
            "sent.claim.waits()",
            8_000,
            6379),
    TRY_REFUSED_BEHIND_THE_NEXT_TRY_GIVEN_UP(
            "internal/ExclusiveQueue",
            "return next == null || next.outcome() != null ? null : next;",
            "return next;",
            8_000,
            2250),
    TRY_REFUSED_BEHIND_A_GRANT_THAT_NOBODY_WANTS(
            "internal/ExclusiveQueue", "!goesBack && !isIn(Phase.REFRESHING) && ", "!goesBack && ", 4_000, 1_355),
    TIME_PASSED_WITHOUT_AN_ANSWER("internal/WaitQueue", "} else if (isSurelyHeldHere()) {", "} else if (true) {", 500),
    UNKNOWN_TAKEN_FOR_AN_ANSWER(
            "internal/StoreLink", "if (verdict != Renewal.Verdict.UNKNOWN) {", "if (verdict != null) {", 2_000, 279),
    HOLD_IN_DOUBT_ENTERED_AGAIN("internal/OwnHold", """
        throwIfLost(held);
        return false;
""", "        return true;", 1_000, 374),
    GIVEN_BACK_AT_THE_FIRST_EXIT(
            "internal/LocalLock", "return closing.exit(as);", "closing.exit(as); return true;", 500),
    LEAK_RENEWED("internal/LeaseRenewer", "        stopRenewingLeaks();\n", "", 500),
    LEAK_GIVEN_BACK(
            "internal/LeaseRenewer",
            "if (hold.grant.lock().stopRenewal(hold, Loss.Cause.LEAKED)) {",
            "if (hold.grant.lock().stopRenewal(hold, Loss.Cause.LEAKED)) { hold.grant.lock().end(hold, null);",
            500),
    RENEWED_BEYOND_THE_MAXIMUM_HOLD("internal/LeaseRenewer", "            stopIfHeldTooLong(grant);\n", "", 500, 52),
    DEADLINE_PASSED_UNNOTICED("internal/LeaseRenewer", "lose(grant, grant.endCause());", "", 500),
    QUESTION_OVERTAKES_A_RELEASE(
            "internal/Inspection",
            ".thenCompose(all -> engine.releaseSender.settled(inStore))",
            ".thenApply(all -> all)",
            4_000,
            109),
    STORE_CALLED_UNDER_A_MUTEX("internal/Effects", "lock.mutex.unlock();", "run(); lock.mutex.unlock();", 500),
    BREAK_THAT_COMPARES_NO_NUMBER(
            "memory/MemoryLock", "filter(held -> held.number == number)", "filter(held -> true)", 1_000),
    NUMBERS_WITHOUT_THE_CLOCK( // they fall when the server forgets the last one
            "memory/MemoryStore",
            "lastNumber = Math.max(micros, Math.max(lastNumber, floor) + 1);",
            "lastNumber = Math.max(lastNumber, floor) + 1;",
            2_000,
            43),
    NUMBERS_FALL_WITH_THE_CLOCK( // when it is set back
            "memory/MemoryStore",
            "lastNumber = Math.max(micros, Math.max(lastNumber, floor) + 1);",
            "lastNumber = lastNumber - micros > 1_000 ? micros : Math.max(micros, Math.max(lastNumber, floor) + 1);",
            2_000,
            76),
    CLAIM_WAITS_LONG_BEHIND_A_FAILED_RELEASE(
            "internal/Effects",
            "whenComplete((held, failure) -> lock.claimsMayFollow(grant));",
            "whenComplete((held, failure) -> { if (failure == null) { lock.claimsMayFollow(grant); } else { "
                    + "lock.engine.time.schedule(() -> lock.claimsMayFollow(grant),"
                    + " grant.grant().lease().multipliedBy(20)); } });",
            2_000,
            111),
    IDLE_GRANT_KEPT_THOUGH_OTHERS_WAIT(
            "internal/Effects",
            """
            queue.engine.store.beforeSending(
                    queue.name, () -> queue.lock.transition(then -> queue.endOfLinger(grant, then)));
""",
            "queue.engine.time.schedule(() -> queue.lock.transition(then -> queue.endOfLinger(grant, then)),"
                    + " grant.grant().lease().multipliedBy(30));",
            500),
    CLAIM_OF_NOBODY_NOT_CALLED_OFF("internal/WaitQueue", """
        if (unwanted != null) {
            then.add(new Effects.Cancel(unwanted));
        }
    }
""", "    }\n", 2_000, 228),
    INTERRUPTED_WAITER_STAYS_IN_THE_QUEUE(
            "internal/Acquisition", "lock.forget(waiter, NotAcquired.Reason.INTERRUPTED);", "", 4_000, 78),
    RETAINED_GRANT_KEPT_AFTER_A_LOSS(
            "internal/ExclusiveQueue",
            "if (grant == lost) {",
            "if (grant == lost && !isIn(Phase.RETAINED)) {",
            1_000,
            38),
    RETAINED_INDEX_USED_TWICE("internal/ExclusiveQueue", "        made.grant.given(made);\n", """
        if (made.options.retain().isZero()) { made.grant.given(made); }
""", 1_000),
    WANTED_NOT_HEARD("internal/ExclusiveQueue", "if (grant == of) {", "if (grant == of && grant != of) {", 2_000, 52),
    WAIT_DOES_NOT_ENTER_AGAIN(
            "internal/Acquisition",
            "return again.within(name, wait, interruptible);",
            "return Optional.empty();",
            1_000),
    TRY_DOES_NOT_ENTER_AGAIN("internal/Acquisition", "return again::now;", "return Optional::empty;", 1_000);

    /** Which class, below {@code dev.holdfast}. */
    final String type;

    private final String sound;
    private final String broken;
    /** Within how many schedules it must be found. */
    final long schedules;
    /** Which schedule showed it when it was last looked for from the first on. */
    final long seen;

    Defect(String type, String sound, String broken, long schedules) {
        this(type, sound, broken, schedules, 1);
    }

    Defect(String type, String sound, String broken, long schedules, long seen) {
        this.type = type;
        this.sound = sound;
        this.broken = broken;
        this.schedules = schedules;
        this.seen = seen;
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
