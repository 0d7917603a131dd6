package dev.holdfast.jdbc;

import static java.util.concurrent.TimeUnit.MICROSECONDS;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How a claim becomes a grant on one session.
 *
 * <pre>
 *   the server's lock    the row's claim
 *   ─────────────────    ───────────────────────────────────────────────────────────────────────────────────────────
 *   others have it       whatever it is: not granted
 *   this session's now   none, it was released: granted
 *                        somebody's: the session ended without a release. Marked as ended, and then as below
 *                        ended: granted when the client of that session surely believes in it no more
 * </pre>
 *
 * <p>The last line is why two clients never both believe in a grant when a connection is cut: the server frees the lock at
 * once, but the client whose session it was may not know for a while.
 *
 * @param connection the session, on whose thread this runs
 * @param locks the same, as statements
 * @param claim what is asked for
 * @param opener the client's time, and how long it believes
 */
record SessionTurn(SessionConnection connection, SessionRows locks, Claim claim, SessionOpener opener) {
    /** Waits, on behalf of a claim that may be cancelled meanwhile. */
    @FunctionalInterface
    interface Pause {
        /** False if it was cancelled. */
        boolean await(Duration time);
    }

    private static final Pause NONE = time -> false;

    /** Tries once. The same claim again is answered with what it has. */
    Optional<Grant> attempt() throws SQLException {
        Grant again = again();
        if (again != null) {
            return Optional.of(again);
        }
        if (connection.has(claim.name())) {
            return Optional.empty();
        }
        locks.refuseMoreThan(connection.grants(), claim.name());
        SessionRows.Tried tried = locks.tryLock(claim.name());
        return tried.locked() ? settle(tried.row().number(), tried.row(), NONE) : Optional.empty();
    }

    private @Nullable Grant again() throws SQLException {
        HeldLocks.Held held = connection.heldAs(claim.id());
        if (held == null) {
            return null;
        }
        long sent = opener.time().nanoTime();
        connection.renew(locks, List.of(claim.id()), false);
        return connection.heldAs(claim.id()) == null
                ? null
                : granted(held.grant().number(), sent);
    }

    /**
     * Waits in the server's queue.
     *
     * @param pause for a client that still believes in a grant that has ended; asked as soon as it waits
     * @return empty if it was cancelled
     */
    Optional<Grant> await(Pause pause) throws SQLException {
        while (true) {
            SessionRows.Tried tried = locks.tryLock(claim.name());
            int number = tried.row().number();
            if (!tried.locked()
                    && !(pause.await(Duration.ZERO) && locks.awaitLock(number, () -> !pause.await(Duration.ZERO)))) {
                break;
            }
            SessionRow row = locks.readLocked(claim.name());
            if (!pause.await(Duration.ZERO)) {
                break; // cancelled before the server gave the lock, which the next one shall have
            }
            if (row.number() == number) {
                return settle(number, row, pause);
            }
            locks.unlock(number); // the lock was broken meanwhile, and the name has another
        }
        locks.unlockAll();
        return Optional.empty();
    }

    /** With the server's lock; without a grant it goes back. */
    private Optional<Grant> settle(int number, SessionRow first, Pause pause) throws SQLException {
        long since = opener.time().nanoTime(); // the session that had the lock has ended before this
        boolean marked = false;
        SessionRow row = first;
        while (row.number() == number) {
            boolean mine = claim.id().value().equals(row.claim());
            boolean ended = SessionRow.ENDED.equals(row.claim());
            long sent = opener.time().nanoTime();
            long believed = believedFor(row, sent - since, marked);
            if (row.claim() == null || mine || ended && believed <= 0) {
                long granted = locks.take(row, claim, opener.session());
                if (granted > 0) {
                    Grant grant = granted(granted, sent);
                    connection.keep(locks, new HeldLocks.Held(grant, number, false));
                    return Optional.of(grant);
                }
            } else if (!ended || row.believedFor() > row.session()) { // the server's clock was set back since it ended
                marked |= locks.markEnded(row);
            } else if (!pause.await(Duration.ofNanos(Math.min(believed + 1_000, opener.beat())))) {
                break;
            }
            row = locks.readLocked(claim.name());
        }
        locks.unlock(number);
        return Optional.empty();
    }

    /**
     * How long, in nanoseconds, somebody may still believe in a grant whose session has ended. Not longer than its session,
     * counted from when this session got the lock, whatever the server's clock says. If this one has noted the end itself,
     * not shorter either: the server's clock may have been set forward since.
     */
    private static long believedFor(SessionRow row, long waited, boolean marked) {
        long byOwnClock = MICROSECONDS.toNanos(row.session()) - waited;
        return marked ? byOwnClock : Math.min(byOwnClock, MICROSECONDS.toNanos(row.believedFor()));
    }

    private Grant granted(long number, long sent) {
        return new Grant(claim.id(), claim.name(), claim.mode(), opener.session(), number, sent);
    }
}
