package dev.holdfast;

/**
 * The end of a hold otherwise than by its own close.
 *
 * @param name the lock
 * @param token the hold's token
 * @param cause why
 * @param store where the lock lives, without secrets
 */
public record Loss(String name, long token, Cause cause, String store) implements LockEvent {

    /** Why a hold was lost. */
    public enum Cause {
        /** The lease ran out before a renewal was confirmed: the process or the store was too slow, or out of reach. */
        NOT_RENEWED_IN_TIME(
                "its lease ran out before a renewal was confirmed: the process or the store stalled, or was out of reach;"
                        + " check what was written under this token, and take a longer lease if it happens again"),
        /**
         * The lease of a hold without {@link HoldOptions#autoRenew()} ended, as requested; it was neither closed nor
         * extended before. Logged at {@code INFO}.
         */
        FIXED_LEASE_ENDED("its lease ended, and a hold without autoRenew is not renewed;"
                + " close it earlier, extend it, or take a longer lease if its work was not done"),
        /** The store reported that the grant no longer exists: it was broken, deleted, or had run out. */
        GONE_FROM_STORE("the store no longer has it: it was broken, deleted, or had run out;"
                + " check what was written under this token, and who removed it"),
        /** The store reported, without being asked, that the grant is gone: its session ended or its connection broke. */
        SESSION_ENDED("the store reported its end: the session or connection that kept it is gone;"
                + " check what was written under this token, and the way to the store"),
        /** The maximum hold time of {@link HoldOptions#maxHold()} passed. */
        MAX_HOLD_REACHED("its maximum hold time has passed and renewal was stopped;"
                + " see why its holder hangs, or allow a longer maxHold"),
        /** No code could close the hold any more: it became unreachable, or its thread ended. Renewal was stopped. */
        LEAKED("it was never closed, and no code can close it any more; close holds in a try statement"),
        /** The client was closed before the hold was. */
        CLIENT_CLOSED("its client was closed first; close holds before their client");

        private final String text;

        Cause(String text) {
            this.text = text;
        }
    }

    /** One line that names the lock and the store, and says what to do. */
    public String message() {
        return "lost the hold of '" + name + "' (token " + token + ") on " + store + "; " + cause.text;
    }
}
