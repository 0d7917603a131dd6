package dev.holdfast.tck.fuzz;

import dev.holdfast.spi.Mode;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A request under way, or one that may still be. */
final class Call {
    static final long NEVER = Long.MAX_VALUE;

    /** What a request does to a lock. */
    enum Kind {
        CLAIM,
        WAIT,
        RENEW,
        EXTEND,
        DOWNGRADE,
        RELEASE,
        WITHDRAW,
        REVOKE,
        BREAK
    }

    /** The clock of a server may be so much slower than this one: 1 %, the difference that leases allow for. */
    private static final int SLOWER = 100;

    /** A store may count in milliseconds: a lease may end so much earlier, which the margin of the clients covers. */
    private static final long GRANULARITY = TimeUnit.MILLISECONDS.toNanos(1);

    final int id;
    final int name;
    final Kind kind;
    final int claim;
    final Mode mode;
    /** From its sending to the earliest end of the lease that it begins. */
    final long lease;
    /** Whether that lease goes on by itself, with a session. */
    final boolean endless;

    final long sent;
    /** The client that asks, which may be another than that of the claim. */
    @Nullable
    FuzzClient sender;

    /** When it was lost: after this it has no effect any more. */
    long until = NEVER;

    boolean cancelled;
    /** How much later its lease may end because the server's clock was set back. */
    long late;
    /** The server's clock was set ahead: its lease may be over at once. */
    boolean hurried;
    /** Somebody broke the lock meanwhile: the grant may be gone before its answer is here. */
    boolean disturbed;
    /** A break or a renewal by a number that the grant may have changed meanwhile. */
    boolean mayMiss;
    /** Another request of its claim was under way that changes the lease as well: which came first is not known. */
    boolean crossed;
    /** It may have been carried out twice; the answer is then that of both together. */
    boolean twice;
    /** A waiting claim that got no grant, and may have been offered one. */
    boolean mayHold;
    /** A second copy of a request that was answered: it takes the lock for nobody. */
    boolean ghost;

    Call(int id, int name, Kind kind, int claim, Mode mode, long lease, boolean endless, long sent) {
        this.id = id;
        this.name = name;
        this.kind = kind;
        this.claim = claim;
        this.mode = mode;
        this.lease = lease;
        this.endless = endless;
        this.sent = sent;
    }

    /** When the lease is over at the latest, if it begins no later than that. */
    long end(long begun) {
        return endless || begun == NEVER ? NEVER : begun + lease + lease / SLOWER + late;
    }

    /** When the lease is over at the earliest. */
    long from() {
        return from(sent);
    }

    /** The same, if it begins no earlier than that. */
    long from(long begun) {
        return lease == NEVER ? NEVER : begun + lease - GRANULARITY;
    }

    /** Whether an answer says that the session it belongs to had begun its lease before this was sent. */
    boolean beganBefore(long from) {
        return endless && from < from();
    }

    boolean mayRenumber() {
        return kind == Kind.CLAIM || kind == Kind.WAIT || kind == Kind.EXTEND;
    }

    boolean isBreak() {
        return kind == Kind.REVOKE || kind == Kind.BREAK;
    }

    boolean isLost() {
        return until != NEVER;
    }

    @Override
    public String toString() {
        return kind + " #" + claim + (isLost() ? " (lost)" : "");
    }
}
