package dev.holdfast.jdbc;

import dev.holdfast.LockStatus;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.jdbc.ServerDialect.Claimed;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.PagedListing;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The operations on locks, on one connection.
 *
 * <p>What happens most is one statement that asks for nothing else: to claim a lock that is free or was offered, to
 * release one that nobody waits for. Everything else is a {@link LockTransition}: the row is read, the step is worked out, and
 * written if the row is still as it was. What this client wrote last it need not read: the row of a lock that it holds
 * rarely changes under it, so a hand-over to another client is one statement here and one there.
 *
 * <p>For one thread.
 */
class LockRows {
    private static final int TRIES = 20;

    private final ServerDialect dialect;
    private final RowSql sql;
    private final SqlErrors errors;
    private final SqlSession session;
    private final LongSupplier stamp;
    private final RowParameters arguments;
    private final RowCache memory = new RowCache();
    private final IdleRows idle;

    LockRows(ServerDialect dialect, RowSql sql, SqlErrors errors, SqlSession session, LongSupplier stamp) {
        this.dialect = dialect;
        this.errors = errors;
        this.sql = sql;
        this.session = session;
        this.stamp = stamp;
        this.arguments = new RowParameters(dialect, session);
        this.idle = new IdleRows(dialect, sql, session);
    }

    SqlSession session() {
        return session;
    }

    /**
     * What came of a claim.
     *
     * @param grant the grant
     * @param releasedHeld whether the hold that was released by the same step stood
     * @param microsToNextEnd how long until a lease in the way is over, or a place before it
     * @param ahead how many are before it in the queue
     * @param before the claim before it, in the queue or holding
     */
    record Answer(Optional<Grant> grant, boolean releasedHeld, long microsToNextEnd, int ahead, String before) {}

    /**
     * Claims a lock, and releases a hold of the same client before that, in one step.
     *
     * @param released the claim whose hold is given back first; null when there is none
     * @param channel where the claim receives offers; null if it does not wait
     */
    Answer claim(Claim claim, @Nullable String released, @Nullable String channel) throws SQLException {
        long asked = System.nanoTime();
        RowSnapshot row = released == null ? null : memory.recallContended(claim.name());
        if (row == null && claim.mode() instanceof Mode.Exclusive) {
            long sent = stamp.getAsLong();
            Optional<Claimed> answer = dialect.claim(session, sql, arguments.claim(claim, released));
            if (answer.isPresent() && answer.get().granted()) {
                return granted(claim, answer.get(), sent, asked);
            }
            row = answer.map(Claimed::row).orElse(null);
        }
        for (int tries = 0; tries < TRIES; tries++) {
            long sent = stamp.getAsLong();
            if (row == null) {
                row = read(sql.readToChange, claim.name()).orElse(null);
            }
            if (row == null && insert(claim)) {
                row = read(sql.readToChange, claim.name()).orElse(null);
                if (row != null && isNew(row, claim)) {
                    return granted(claim, new Claimed(true, true, row), sent, asked);
                }
            }
            if (row == null) {
                continue; // somebody else was first, or it was removed at once: read again
            }
            refuseNewer(claim.name(), row);
            LockTransition step = new LockTransition(row.state(), claim.floor());
            boolean held = released != null && step.release(released);
            Optional<HolderEntry> got = step.claim(claim, channel);
            if (!step.isChanged() || write(claim.name(), step, asked)) {
                return answer(claim, step, got, held, sent);
            }
            row = null;
            nap(tries);
        }
        throw tooBusy("claim", claim.name());
    }

    /** Asks again for a claim that is in the queue: reads first, since most often nothing has changed. */
    Answer poll(Claim claim, String channel) throws SQLException {
        long asked = System.nanoTime();
        for (int tries = 0; tries < TRIES; tries++) {
            long sent = stamp.getAsLong();
            Optional<RowSnapshot> row = read(readForPoll(tries), claim.name());
            if (row.isEmpty()) {
                return claim(claim, null, channel);
            }
            refuseNewer(claim.name(), row.get());
            LockTransition step = new LockTransition(row.get().state(), claim.floor());
            Optional<HolderEntry> got = step.claim(claim, channel);
            if (!step.isChanged() || write(claim.name(), step, asked)) {
                return answer(claim, step, got, false, sent);
            }
            nap(tries);
        }
        throw tooBusy("claim", claim.name());
    }

    /** The statement that claims takes only a valid hold in exchange; a row that is new was nobody's. */
    private Answer granted(Claim claim, Claimed answer, long sent, long asked) {
        LockRow state = answer.row().state();
        HolderEntry alone = state.exclusive();
        if (alone != null) {
            memory.remember(claim.name(), answer.row(), asked);
        }
        Grant grant = Grant.of(claim, alone == null ? state.version() : alone.number(), sent);
        return new Answer(Optional.of(grant), !answer.inserted(), 0, 0, "");
    }

    private Answer answer(Claim claim, LockTransition step, Optional<HolderEntry> got, boolean held, long sent) {
        if (got.isPresent()) {
            Grant grant = Grant.of(claim, got.get().number(), sent);
            return new Answer(Optional.of(grant), held, 0, 0, "");
        }
        int ahead = step.ahead(claim.id().value());
        List<WaiterEntry> queue = step.to().waiting();
        HolderEntry alone = step.to().exclusive();
        String before = ahead > 0 ? queue.get(ahead - 1).id() : alone == null ? "" : alone.id();
        return new Answer(
                Optional.empty(), held, step.microsToNextEnd(claim.id().value()), ahead, before);
    }

    boolean release(String name, ClaimId id) throws SQLException {
        RowSnapshot known = memory.recallContended(name);
        memory.forget(name);
        return (known == null && dialect.release(session, sql, List.of(0L, dialect.name(name), id.value())))
                || change(name, known, step -> step.release(id.value())).orElse(false);
    }

    boolean downgrade(String name, ClaimId id) throws SQLException {
        memory.forget(name);
        return change(name, null, step -> step.downgrade(id.value())).orElse(false);
    }

    /** Takes out whatever a claim has left; whether there was anything. */
    boolean withdraw(String name, ClaimId id) throws SQLException {
        memory.forget(name);
        return change(name, null, step -> {
                    step.withdraw(id.value());
                    return step.isChanged();
                })
                .orElse(false);
    }

    boolean breakGrant(String name, long number, boolean now) throws SQLException {
        memory.forget(name);
        return change(name, null, step -> step.breakGrant(number, now)).orElse(false);
    }

    /** Renews exclusive grants that state the same lease, sorted by name; the valid ones, and whether others wait. */
    Map<String, Boolean> renew(List<Grant> grants, Duration lease) throws SQLException {
        List<GrantKey> keys = new ArrayList<>();
        for (Grant grant : grants) {
            memory.forget(grant.name());
            keys.add(new GrantKey(dialect.name(grant.name()), grant.id().value(), grant.number()));
        }
        return dialect.renew(session, sql, Micros.of(lease), keys);
    }

    /** The exclusive grants that are valid, and whether others wait for them. Takes no lock. */
    Map<ClaimId, Boolean> valid(List<Grant> grants) throws SQLException {
        List<GrantKey> keys = grants.stream()
                .map(grant ->
                        new GrantKey(dialect.name(grant.name()), grant.id().value(), grant.number()))
                .toList();
        Map<ClaimId, Boolean> valid = new HashMap<>();
        GrantKey.valid(session, sql.renewed(GrantKey.rows(keys)), GrantKey.names(keys), keys)
                .forEach((id, contended) -> valid.put(ClaimId.of(id), contended));
        return valid;
    }

    /** Renews shared grants of one name in one step; the valid ones, and whether others wait. */
    Map<String, Boolean> renewShared(String name, List<Grant> grants) throws SQLException {
        Map<String, Boolean> valid = new HashMap<>();
        change(name, null, step -> {
            valid.clear();
            for (Grant grant : grants) {
                if (step.renew(grant.id().value(), grant.number(), grant.lease())) {
                    valid.put(grant.id().value(), !step.from().waiting().isEmpty());
                }
            }
            return true;
        });
        return valid;
    }

    Optional<RowSnapshot> read(String name) throws SQLException {
        return read(sql.read, name);
    }

    /**
     * The first read of a claim that is in the queue takes no lock, and may be late: the claim asks again. A row that
     * turned out to be another one may have come from a replica that lags behind.
     */
    private String readForPoll(int tries) {
        return tries == 0 ? sql.readToPoll : sql.readToChange;
    }

    private Optional<RowSnapshot> read(String query, String name) throws SQLException {
        return session.all(query, row -> RowSnapshot.read(row, 1), List.of(dialect.name(name))).stream()
                .findFirst();
    }

    /**
     * A row with its name.
     *
     * @param row null where it is not as this version of Holdfast writes it
     */
    record Named(String name, @Nullable RowSnapshot row) {
        static Named read(String name, ResultSet columns) throws SQLException {
            try {
                RowSnapshot row = RowSnapshot.read(columns, 2);
                return new Named(name, row.layout() > RowSql.LAYOUT ? null : row);
            } catch (StoreRefusedException foreign) {
                return new Named(name, null);
            }
        }

        /** One foreign row does not hide the others from a list. */
        LockStatus status() {
            return row == null ? LockStatus.unreadable(name) : RowStatus.of(name, row.state());
        }
    }

    /** The locks after a name that are held or waited for, as many as one request may read. */
    PagedListing.Page<LockStatus> list(String prefix, String after) throws SQLException {
        List<Object> range = List.of(dialect.name(prefix), dialect.behind(prefix), dialect.name(after));
        Optional<String> end = session.all(sql.endOfPage, row -> dialect.name(row, 1), range).stream()
                .findFirst();
        List<Object> page = new ArrayList<>(range);
        page.add(end.map(dialect::name).orElseGet(() -> dialect.behind(prefix)));
        List<LockStatus> locks = session.all(sql.list, row -> Named.read(dialect.name(row, 1), row), page).stream()
                .filter(each -> each.name().startsWith(prefix))
                .map(Named::status)
                .filter(status -> status.isHeld() || status.waiting() > 0)
                .toList();
        return new PagedListing.Page<>(locks, end.orElse(""));
    }

    IdleRows idle() {
        return idle;
    }

    private <T> Optional<T> change(String name, @Nullable RowSnapshot known, Function<LockTransition, T> work)
            throws SQLException {
        RowSnapshot row = known;
        for (int tries = 0; tries < TRIES; tries++) {
            if (row == null) {
                row = read(sql.readToChange, name).orElse(null);
            }
            if (row == null) {
                return Optional.empty();
            }
            refuseNewer(name, row);
            LockTransition step = new LockTransition(row.state(), 0);
            T result = work.apply(step);
            if (!step.isChanged() || write(name, step, System.nanoTime())) {
                return Optional.of(result);
            }
            row = null;
            nap(tries);
        }
        throw tooBusy("change", name);
    }

    /** Writes a step if the row is as the step found it; what it says is remembered as of when the row was asked for. */
    private boolean write(String name, LockTransition step, long asked) throws SQLException {
        memory.forget(name);
        List<WaiterEntry> notified = LocalOffers.elsewhere(step.offered());
        if (!dialect.write(session, sql, arguments.write(name, step), notified, step.isReliedOn())) {
            return false;
        }
        LocalOffers.notifyLocal(step.offered());
        if (step.isGrant() && step.to().exclusive() != null) {
            memory.remember(name, new RowSnapshot(RowSql.LAYOUT, step.to()), asked);
        }
        return true;
    }

    private boolean insert(Claim claim) throws SQLException {
        boolean whole = claim.mode() instanceof Mode.Exclusive;
        return session.update(sql.insert, arguments.insert(claim, whole)) > 0;
    }

    private static boolean isNew(RowSnapshot row, Claim claim) {
        HolderEntry alone = row.state().exclusive();
        return alone != null && alone.id().equals(claim.id().value());
    }

    private static void nap(int tries) {
        long longest = 100_000L << Math.min(tries, 6);
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(longest / 4, longest));
    }

    private StoreUnavailableException tooBusy(String what, String name) {
        return new StoreUnavailableException(
                errors.cannot(what, name) + ": its row changed during each of " + TRIES + " tries; try again", null);
    }

    private void refuseNewer(String name, RowSnapshot row) {
        if (row.layout() > RowSql.LAYOUT) {
            throw new StoreRefusedException(errors.cannot("use", name) + ": it is kept in layout " + row.layout()
                    + ", and this version of Holdfast knows layout " + RowSql.LAYOUT
                    + " at most; use the newer version");
        }
    }
}
