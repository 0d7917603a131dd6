package dev.holdfast.jdbc;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Redacted;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.support.LateListener;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The claims of this client that wait, by their ids, and how they learn that it is their turn: from this process, through the
 * {@link OfferListener}, or by looking. Thread-safe.
 */
final class PendingClaims implements OfferListener.Listener {
    private final Map<String, PendingClaim> all = new ConcurrentHashMap<>();
    private final String channel;
    private final TableOpener tables;
    private final OfferListener offerListener;
    private final LateListener listener = new LateListener();
    private final AtomicBoolean warned = new AtomicBoolean();

    PendingClaims(TableOpener tables, String channel, Connections connections) {
        this.tables = tables;
        this.channel = channel;
        this.offerListener = tables.dialect().offerListener(this, channel, connections);
        LocalOffers.register(channel, this::offered);
    }

    void listen(StoreListener engine) {
        listener.set(engine);
    }

    Pending claim(Claim claim, Answer answer, ConnectionWorker worker) {
        PendingClaim queued = new PendingClaim(claim, answer, this, worker);
        all.put(claim.id().value(), queued);
        queued.ask();
        return queued;
    }

    /** A claim has its answer. */
    void ended(PendingClaim answered) {
        all.remove(answered.claim().id().value(), answered);
    }

    @Override
    public void offered(String claimId) {
        PendingClaim queued = all.get(claimId);
        if (queued != null) {
            queued.offered();
        }
    }

    @Override
    public void listening() {
        all.values().forEach(PendingClaim::ask);
    }

    /** The claims find out whether the server is away, by asking; while it is not, they poll, and have this opened again. */
    @Override
    public void unavailable(Throwable why, boolean received) {
        if (received) {
            all.values().forEach(PendingClaim::ask);
        } else if (why instanceof SQLException e && !tables.errors().isBroken(e) && warned.compareAndSet(false, true)) {
            SqlSession.warn("claims that wait on " + tables.description()
                    + " poll: no connection for notifications could be opened; give the pool or the server one more: "
                    + Redacted.text(why));
        }
    }

    @Override
    public boolean hasWaiters() {
        return !all.isEmpty();
    }

    void unreachable(Claim claim, Throwable why) {
        listener.unreachable(claim.name(), why);
    }

    void reachable() {
        listener.reachable();
    }

    TableOpener tables() {
        return tables;
    }

    OfferListener offerListener() {
        return offerListener;
    }

    String channel() {
        return channel;
    }

    /** Gives up the places of one worker, so that nobody waits for a client that is gone. */
    boolean leave(ConnectionWorker worker, LockRows table) throws SQLException {
        List<PendingClaim> leaving = new ArrayList<>(all.values());
        for (PendingClaim each : leaving) {
            if (each.worker() == worker) {
                each.giveUp(table);
            }
        }
        return true;
    }

    void failAll(HoldfastException why) {
        all.values().forEach(each -> each.fail(why));
    }

    void close() {
        LocalOffers.unregister(channel);
        offerListener.close();
    }
}
