package dev.holdfast.sqlite;

import dev.holdfast.Holder;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.PagedListing;
import dev.holdfast.spi.support.WaiterExpiry;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The operations on SQLite. Each writes in one statement of {@link SqliteSql} outside any transaction: a stopped process
 * blocks the others only if it is stopped inside that statement.
 *
 * <p>A second statement, which locks nothing, reads back what the first has written. {@code RETURNING} would need only
 * one, but returns its rows before the commit: the file would stay locked while Java reads them, and during a garbage
 * collection meanwhile. A statement without rows commits before it returns to Java.
 */
final class SqliteLockTable implements SqliteLocks {
    private static final int PURGE_BATCH = 500;
    private static final long TOKENS_PER_GRANT = 1024;
    private static final Duration IDLE = Duration.ofHours(1);

    private final SqliteSession session;
    private final SqliteClock clock;
    private final SqliteSharedLocks shared;
    private final SqliteRenewals renewals;
    private final SqliteRecords records;
    private boolean granted;

    SqliteLockTable(SqliteSession session, SqliteClock clock) {
        this.session = session;
        this.clock = clock;
        this.shared = new SqliteSharedLocks(session, clock);
        this.renewals = new SqliteRenewals(session, clock);
        this.records = new SqliteRecords(session);
    }

    @Override
    public boolean couldBeGranted(Claim claim) {
        return session.run(
                "claim",
                claim.name(),
                () -> session.first(
                                SqliteSharedSql.COULD_BE_GRANTED,
                                row -> {
                                    session.refuseNewer(claim.name(), row.getLong(2));
                                    return row.getBoolean(1);
                                },
                                SqliteSharedLocks.question(claim, NO_PLACE, clock.micros()))
                        .orElse(true));
    }

    @Override
    public Optional<Grant> claim(Claim claim, long place) {
        Optional<Grant> grant =
                SqliteSharedLocks.isShared(claim.mode()) ? shared.claim(claim, place) : claimAlone(claim, place);
        granted = grant.isPresent();
        return grant;
    }

    private Optional<Grant> claimAlone(Claim claim, long place) {
        return session.run("claim", claim.name(), () -> {
            long sent = clock.stamp();
            long now = clock.micros();
            int rows = session.update(
                    SqliteSql.CLAIM,
                    claim.name(),
                    claim.id().value(),
                    now,
                    place,
                    clock.lowestNumber(claim.floor()),
                    now + Micros.of(claim.lease()),
                    claim.holder().host(),
                    claim.holder().pid(),
                    claim.holder().thread(),
                    claim.holder().label());
            return numberIf(rows, claim.name(), claim.id()).map(number -> Grant.of(claim, number, sent));
        });
    }

    /** The number of the grant just written; empty if none was, or if it has ended already. */
    private Optional<Long> numberIf(int rows, String name, ClaimId id) throws SQLException {
        return rows == 0 ? Optional.empty() : session.first(SqliteSql.NUMBER, row -> row.getLong(1), name, id.value());
    }

    /** Two operations: the insert must not be repeated only because the file was busy for the read after it. */
    @Override
    public long enqueue(Claim claim) {
        session.run("queue for", claim.name(), () -> {
            long now = clock.micros();
            return session.update(
                    SqliteSql.ENQUEUE,
                    claim.name(),
                    claim.id().value(),
                    now,
                    now + Micros.of(WaiterExpiry.of(claim)),
                    claim.holder().host(),
                    claim.holder().pid(),
                    claim.holder().thread(),
                    claim.holder().label(),
                    SqliteSharedLocks.kind(claim.mode()),
                    SqliteSharedLocks.permits(claim.mode()),
                    SqliteSharedLocks.total(claim.mode()));
        });
        return session.run(
                "queue for",
                claim.name(),
                () -> session.first(
                                SqliteSql.PLACE,
                                row -> row.getLong(1),
                                claim.name(),
                                claim.id().value())
                        .orElse(NO_PLACE));
    }

    @Override
    public void keepPlaces(List<Place> places) {
        session.run("queue for", places.get(0).name(), () -> {
            List<Object> arguments = new ArrayList<>();
            arguments.add(clock.micros());
            for (int i = 0; i < SqliteRenewals.roundedUp(places.size()); i++) {
                arguments.add(i < places.size() ? places.get(i).name() : SqliteRenewals.NO_NAME);
                arguments.add(i < places.size() ? places.get(i).arrival() : NO_PLACE);
                arguments.add(i < places.size() ? Micros.of(places.get(i).life()) : 0L);
            }
            return session.update(SqliteSql.keepPlaces(SqliteRenewals.roundedUp(places.size())), arguments.toArray());
        });
    }

    @Override
    public void forgetPlaces(Claim claim, long served) {
        if (!SqliteSharedLocks.isShared(claim.mode())) { // a shared one did so with its claim
            String name = claim.name();
            session.run("queue for", name, () -> session.update(SqliteSql.FORGET_PLACES, name, served));
        }
    }

    @Override
    public void dequeue(String name, ClaimId id) {
        session.run("leave the queue of", name, () -> session.update(SqliteSql.DEQUEUE, name, id.value()));
    }

    @Override
    public Map<ClaimId, Renewal> renew(List<Grant> grants) {
        return renewals.renew(grants);
    }

    @Override
    public Map<ClaimId, Boolean> valid(List<Grant> grants) {
        return renewals.valid(grants);
    }

    @Override
    public Optional<Grant> extend(Grant grant) {
        Optional<Grant> fresh = SqliteSharedLocks.isShared(grant.mode()) ? shared.extend(grant) : extendAlone(grant);
        granted = fresh.isPresent();
        return fresh;
    }

    private Optional<Grant> extendAlone(Grant grant) {
        return session.run("extend", grant.name(), () -> {
            long sent = clock.stamp();
            long now = clock.micros();
            int rows = session.update(
                    SqliteSql.EXTEND,
                    grant.name(),
                    grant.id().value(),
                    now,
                    clock.lowestNumber(grant.number()),
                    now + Micros.of(grant.lease()));
            return numberIf(rows, grant.name(), grant.id())
                    .map(n -> new Grant(grant.id(), grant.name(), grant.mode(), grant.lease(), n, sent));
        });
    }

    /** An expired grant that no other has replaced is freed too, but was no longer held. */
    @Override
    public boolean release(String name, Mode mode, ClaimId id) {
        if (SqliteSharedLocks.isShared(mode)) {
            return shared.release(name, id);
        }
        return session.run("release", name, () -> {
            boolean held = session.update(SqliteSql.RELEASE, name, id.value(), clock.micros()) > 0;
            if (!held) {
                session.update(SqliteSql.RELEASE_RUN_OUT, name, id.value());
            }
            return held || (shared.shares(name, id) && shared.release(name, id)); // a writer that was downgraded
        });
    }

    @Override
    public boolean downgrade(Grant grant) {
        return shared.downgrade(grant);
    }

    /**
     * Breaks the grant in both tables: during a downgrade it is briefly in both. The second table is read before it is
     * written, because a file that is blocked now can still be read: the answer then reports what was done.
     */
    @Override
    public boolean breakGrant(String name, long number, boolean now) {
        int rows = session.run(
                "break",
                name,
                () -> now
                        ? session.update(SqliteSql.BREAK_NOW, name, clock.micros(), number)
                        : session.update(SqliteSql.BREAK, name, ClaimId.random().value(), clock.micros(), number));
        boolean exclusive = rows > 0;
        if (exclusive && !shared.hasGrant(name, number)) {
            return true;
        }
        return shared.breakGrant(name, number, now) || exclusive;
    }

    @Override
    public LockStatus status(String name) {
        return session.run(
                "look up",
                name,
                () -> session.first(SqliteSql.STATUS, SqliteLockTable::status, clock.micros(), name)
                        .orElse(LockStatus.free(name, 0)));
    }

    @Override
    public PagedListing.Page<LockStatus> list(String prefix, String after) {
        String beyond = prefix + Character.toString(Character.MAX_CODE_POINT);
        return session.run("list", prefix, () -> {
            Optional<String> end = session.first(SqliteSql.END_OF_PAGE, row -> row.getString(1), prefix, beyond, after);
            List<LockStatus> locks = session.all(
                    SqliteSql.LIST, SqliteLockTable::status, clock.micros(), prefix, beyond, after, end.orElse(beyond));
            return new PagedListing.Page<>(locks, end.orElse(""));
        });
    }

    @Override
    public List<LockWaiter> waiters(String prefix) {
        String beyond = prefix + Character.toString(Character.MAX_CODE_POINT);
        return session.run(
                "list the queue of",
                prefix,
                () -> session.all(SqliteSql.WAITERS, SqliteLockTable::waiter, clock.micros(), prefix, beyond));
    }

    private static LockWaiter waiter(ResultSet row) throws SQLException {
        return new LockWaiter(
                row.getString(1),
                new Holder(row.getString(2), row.getLong(3), row.getString(4), row.getString(5)),
                LockMode.valueOf(row.getString(6).toUpperCase(Locale.ROOT)),
                Duration.of(Math.max(0, row.getLong(7)), ChronoUnit.MICROS));
    }

    private static LockStatus status(ResultSet row) throws SQLException {
        LockStatus free = LockStatus.free(row.getString(1), row.getInt(10));
        String kind = row.getString(2);
        if (kind == null) {
            return free;
        }
        LockStatus.Held held = new LockStatus.Held(
                LockMode.valueOf(kind.toUpperCase(Locale.ROOT)),
                row.getLong(3) * TOKENS_PER_GRANT,
                new Holder(row.getString(6), row.getLong(7), row.getString(8), row.getString(9)),
                Duration.of(Math.max(0, row.getLong(4)), ChronoUnit.MICROS),
                Duration.of(row.getLong(5), ChronoUnit.MICROS));
        return new LockStatus(free.name(), Optional.of(held), free.waiting());
    }

    /** The floor is raised first: a crash in between loses no number. A lock claimed meanwhile is no longer idle. */
    @Override
    public String purge(String after) {
        return session.run("purge", "", () -> {
            long before = clock.micros() - Micros.of(IDLE);
            if (after.isEmpty()) {
                long dead = clock.micros() - Micros.of(PLACE_LIFE);
                session.update(SqliteSql.KEEP_NUMBERS, dead);
                session.update(SqliteSql.REMOVE_DEAD, dead);
            }
            String end = "";
            for (Idle idle : session.all(SqliteSql.IDLE, Idle::read, after, before, (long) PURGE_BATCH)) {
                end = idle.end;
                if (idle.highest > 0) {
                    session.update(SqliteSql.RAISE_FLOOR, idle.highest);
                    session.update(SqliteSql.REMOVE_IDLE, after, idle.end, before);
                }
            }
            if (end.isEmpty()) {
                session.update(SqliteSql.PURGED, clock.micros());
            }
            return end;
        });
    }

    @Override
    public long purgedAtMicros() {
        return session.run(
                "purge",
                "",
                () -> session.first(SqliteSql.PURGED_AT, row -> row.getLong(1)).orElse(0L));
    }

    @Override
    public RecordReading readRecord(String name) {
        return records.read(name);
    }

    @Override
    public Optional<StoredRecord> writeRecord(RecordWrite write) {
        return records.write(write);
    }

    @Override
    public PagedListing.Page<StoredRecord> records(String prefix, String after) {
        return records.list(prefix, after);
    }

    @Override
    public void atRest() {
        if (granted) {
            granted = false;
            session.checkpointIfDue();
        }
    }

    @Override
    public void close() {
        session.close();
    }

    private record Idle(String end, long highest) {
        static Idle read(ResultSet row) throws SQLException {
            String end = row.getString(1);
            return new Idle(end == null ? "" : end, row.getLong(2));
        }
    }
}
