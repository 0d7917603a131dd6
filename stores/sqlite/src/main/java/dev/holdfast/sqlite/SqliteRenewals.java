package dev.holdfast.sqlite;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.Micros;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/** Renews many grants on SQLite: one statement for the exclusive, one for the shared. For one thread. */
final class SqliteRenewals {
    /** No lock has this name. */
    static final String NO_NAME = "";

    private final SqliteSession session;
    private final SqliteClock clock;

    SqliteRenewals(SqliteSession session, SqliteClock clock) {
        this.session = session;
        this.clock = clock;
    }

    /** Few sizes, the powers of two, so that few statements are kept prepared; the rest is filled with {@link #NO_NAME}. */
    static int roundedUp(int size) {
        return size == 1 ? 1 : Integer.highestOneBit(size - 1) << 1;
    }

    /** A file that other processes no longer see keeps no lock: nothing is held then, even if its rows say so. */
    Map<ClaimId, Renewal> renew(List<Grant> grants) {
        long before = clock.stamp();
        Map<ClaimId, Renewal> renewals = new HashMap<>();
        List<Grant> exclusive = new ArrayList<>();
        List<Grant> shared = new ArrayList<>();
        for (Grant grant : grants) {
            renewals.put(grant.id(), Renewal.lost(before));
            (SqliteSharedLocks.isShared(grant.mode()) ? shared : exclusive).add(grant);
        }
        if (!session.isApart()) {
            renew(exclusive, SqliteSql::renew, SqliteSql::renewed, renewals);
            exclusive.removeIf(grant -> !Renewal.lost(before).equals(renewals.get(grant.id())));
            shared.addAll(exclusive); // writers that were downgraded, if they are there
            renew(shared, SqliteSharedSql::renew, SqliteSharedSql::renewed, renewals);
        }
        return renewals;
    }

    private void renew(
            List<Grant> grants, IntFunction<String> write, IntFunction<String> read, Map<ClaimId, Renewal> renewals) {
        if (grants.isEmpty()) {
            return;
        }
        session.run("renew", grants.get(0).name(), () -> {
            long sent = clock.stamp();
            Object[] arguments = arguments(grants, clock.micros());
            int rows = roundedUp(grants.size());
            session.update(write.apply(rows), arguments);
            return session.all(
                    read.apply(rows),
                    row -> renewals.put(ClaimId.of(row.getString(1)), Renewal.held(sent, row.getBoolean(2))),
                    arguments);
        });
    }

    /** The exclusive grants that are valid, and whether others wait for them. */
    Map<ClaimId, Boolean> valid(List<Grant> grants) {
        Map<ClaimId, Boolean> valid = new HashMap<>();
        session.run(
                "look at",
                grants.get(0).name(),
                () -> session.all(
                        SqliteSql.renewed(roundedUp(grants.size())),
                        row -> valid.put(ClaimId.of(row.getString(1)), row.getBoolean(2)),
                        arguments(grants, clock.micros())));
        return valid;
    }

    private static Object[] arguments(List<Grant> grants, long now) {
        List<Object> arguments = new ArrayList<>(1 + 3 * roundedUp(grants.size()));
        arguments.add(now);
        for (Grant grant : grants) {
            arguments.add(grant.name());
            arguments.add(grant.id().value());
            arguments.add(Micros.of(grant.lease()));
        }
        for (int i = grants.size(); i < roundedUp(grants.size()); i++) {
            arguments.addAll(List.of(NO_NAME, NO_NAME, 0L));
        }
        return arguments.toArray();
    }
}
