package dev.holdfast.sqlite;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.support.Micros;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * Readers and holders of permits on SQLite: each shared grant has a row of its own. {@link SqliteSharedSql} states the
 * rules.
 *
 * <p>As everywhere on SQLite, each write is one statement outside any transaction. Where an operation needs two, their
 * order ensures that a process that dies between them only delays others.
 *
 * <p>For one thread.
 */
final class SqliteSharedLocks {
    private final SqliteSession session;
    private final SqliteClock clock;

    SqliteSharedLocks(SqliteSession session, SqliteClock clock) {
        this.session = session;
        this.clock = clock;
    }

    static boolean isShared(Mode mode) {
        return !(mode instanceof Mode.Exclusive);
    }

    static String kind(Mode mode) {
        return mode.kind().name().toLowerCase(Locale.ROOT);
    }

    /** How many permits a claim of that mode wants. */
    static long permits(Mode mode) {
        return mode instanceof Mode.Permits some ? some.permits() : 1;
    }

    /** How many permits there are for a claim of that mode. */
    static long total(Mode mode) {
        return mode instanceof Mode.Permits some ? some.of() : 1;
    }

    /** The arguments by which a statement decides whether it is the turn of a claim, of any mode. */
    static Object[] question(Claim claim, long place, long now) {
        Mode mode = claim.mode();
        return new Object[] {claim.name(), claim.id().value(), now, place, kind(mode), permits(mode), total(mode)};
    }

    Optional<Grant> claim(Claim claim, long place) {
        Optional<Grant> grant = session.run("claim", claim.name(), () -> {
            long sent = clock.stamp();
            long now = clock.micros();
            boolean granted =
                    renumber(SqliteSharedSql.CLAIM_AGAIN, claim.name(), claim.id(), now, claim.floor(), claim.lease())
                            || insert(claim, place, now)
                            || insertIntoNew(claim, place, now);
            return granted
                    ? number(claim.name(), claim.id()).map(number -> Grant.of(claim, number, sent))
                    : Optional.empty();
        });
        if (grant.isPresent()) {
            try {
                forgetPlaces(claim, place); // before the answer: nothing else records that its place was served
            } catch (HoldfastException busy) {
                // The grant is written and counts. Its place expires.
            }
        }
        return grant;
    }

    /** A lock that has never been held has no row; another process may have created one since the first attempt. */
    private boolean insertIntoNew(Claim claim, long place, long now) throws SQLException {
        session.update(SqliteSharedSql.CREATE_FREE, claim.name());
        return insert(claim, place, now);
    }

    private boolean insert(Claim claim, long place, long now) throws SQLException {
        Mode mode = claim.mode();
        return session.update(
                        SqliteSharedSql.CLAIM,
                        claim.name(),
                        claim.id().value(),
                        now,
                        place,
                        kind(mode),
                        permits(mode),
                        total(mode),
                        clock.lowestNumber(claim.floor()),
                        now + Micros.of(claim.lease()),
                        claim.holder().host(),
                        claim.holder().pid(),
                        claim.holder().thread(),
                        claim.holder().label())
                > 0;
    }

    private void forgetPlaces(Claim claim, long served) {
        session.run(
                "queue for",
                claim.name(),
                () -> session.update(
                        SqliteSharedSql.FORGET_PLACES, claim.name(), claim.id().value(), served, kind(claim.mode())));
    }

    Optional<Grant> extend(Grant grant) {
        return session.run("extend", grant.name(), () -> {
            long sent = clock.stamp();
            long now = clock.micros();
            return renumber(SqliteSharedSql.EXTEND, grant.name(), grant.id(), now, grant.number(), grant.lease())
                    ? number(grant.name(), grant.id())
                            .map(n -> new Grant(grant.id(), grant.name(), grant.mode(), grant.lease(), n, sent))
                    : Optional.empty();
        });
    }

    /**
     * Makes an exclusive holder a reader. A process that dies between the two statements leaves an exclusive holder, whose
     * lease ends as it would have. If the grant is released or broken between the two, the downgrade fails and removes its
     * reader row.
     */
    boolean downgrade(Grant grant) {
        if (grant.mode() instanceof Mode.Permits) {
            return false;
        }
        String name = grant.name();
        String id = grant.id().value();
        boolean entered = session.run(
                "downgrade", name, () -> session.update(SqliteSharedSql.DOWNGRADE, name, id, clock.micros()) > 0);
        return session.run("downgrade", name, () -> {
            boolean reads = shares(name, grant.id());
            boolean left = reads && session.update(SqliteSql.RELEASE, name, id, clock.micros()) > 0;
            if (entered && reads && !left) {
                session.update(SqliteSharedSql.RELEASE_RUN_OUT, name, id);
                return false;
            }
            return reads;
        });
    }

    /** Whether a claim is among the shared holders. */
    boolean shares(String name, ClaimId id) throws SQLException {
        return session.first(SqliteSharedSql.SHARES, row -> row.getBoolean(1), name, id.value(), clock.micros())
                .orElse(false);
    }

    /** An expired grant is removed too, but was no longer held. */
    boolean release(String name, ClaimId id) {
        return session.run("release", name, () -> {
            long now = clock.micros();
            session.update(SqliteSharedSql.FREE_SINCE_NOW, name, now, id.value());
            boolean held = session.update(SqliteSharedSql.RELEASE, name, id.value(), now) > 0;
            if (!held) {
                session.update(SqliteSharedSql.RELEASE_RUN_OUT, name, id.value());
            }
            return held;
        });
    }

    /** Whether a grant with that number is among the shared holders. */
    boolean hasGrant(String name, long number) {
        return session.run(
                "break",
                name,
                () -> session.first(SqliteSharedSql.HAS_GRANT, row -> row.getBoolean(1), name, clock.micros(), number)
                        .orElse(false));
    }

    boolean breakGrant(String name, long number, boolean atOnce) {
        return session.run("break", name, () -> {
            long now = clock.micros();
            if (!atOnce) {
                return session.update(
                                SqliteSharedSql.BREAK, name, ClaimId.random().value(), now, number)
                        > 0;
            }
            session.update(SqliteSharedSql.BROKEN_FREE_SINCE_NOW, name, now, number);
            return session.update(SqliteSharedSql.BREAK_NOW, name, now, number) > 0;
        });
    }

    /** Gives a valid grant a new number, and a lease from now on. */
    private boolean renumber(String sql, String name, ClaimId id, long now, long floor, Duration lease)
            throws SQLException {
        return session.update(sql, name, id.value(), now, clock.lowestNumber(floor), now + Micros.of(lease)) > 0;
    }

    private Optional<Long> number(String name, ClaimId id) throws SQLException {
        return session.first(SqliteSharedSql.NUMBER, row -> row.getLong(1), name, id.value());
    }
}
