package dev.holdfast.jdbc;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.StoreListener;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The claims of this client that wait, by their ids, and how they hear that they are up: from this process, through the
 * {@link Ear}, or by looking. Thread-safe.
 */
final class QueuedClaims implements Ear.Listener {
    private final Map<String, QueuedClaim> all = new ConcurrentHashMap<>();
    private final String channel;
    private final RowTables tables;
    private final Ear ear;
    private volatile StoreListener listener = new Nobody();

    QueuedClaims(RowTables tables, String channel, Connections connections) {
        this.tables = tables;
        this.channel = channel;
        this.ear = tables.dialect().ear(this, channel, connections);
        Bells.hang(channel, this::offered);
    }

    void tell(StoreListener told) {
        listener = told;
    }

    Pending claim(Claim claim, Lane lane) {
        QueuedClaim queued = new QueuedClaim(claim, this, lane);
        all.put(claim.id().value(), queued);
        queued.answer().whenComplete((grant, failure) -> all.remove(claim.id().value(), queued));
        queued.ask();
        return queued;
    }

    @Override
    public void offered(String claimId) {
        QueuedClaim queued = all.get(claimId);
        if (queued != null) {
            queued.rung();
        }
    }

    @Override
    public void hearing() {
        all.values().forEach(QueuedClaim::ask);
    }

    @Override
    public void deaf(Throwable why) {
        all.values().stream().findFirst().ifPresent(any -> unreachable(any.claim(), why));
    }

    @Override
    public boolean isWanted() {
        return !all.isEmpty();
    }

    void unreachable(Claim claim, Throwable why) {
        listener.unreachable(claim.name(), why);
    }

    void reachable() {
        listener.reachable();
    }

    RowTables tables() {
        return tables;
    }

    Ear ear() {
        return ear;
    }

    String channel() {
        return channel;
    }

    /** Gives up the places of one lane, so that nobody waits for a client that is gone. */
    boolean leave(Lane lane, RowTable table) throws SQLException {
        List<QueuedClaim> leaving = new ArrayList<>(all.values());
        for (QueuedClaim each : leaving) {
            if (each.lane() == lane) {
                each.giveUp(table);
            }
        }
        return true;
    }

    void failAll(HoldfastException why) {
        all.values().forEach(each -> each.fail(why));
    }

    void close() {
        Bells.takeDown(channel);
        ear.close();
    }

    /** Before anybody listens. */
    private static final class Nobody implements StoreListener {
        @Override
        public void lost(Grant grant) {}

        @Override
        public void suspect(Grant grant) {}
    }
}
