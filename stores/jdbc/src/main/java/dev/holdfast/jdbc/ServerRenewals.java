package dev.holdfast.jdbc;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.RenewalChunks;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The renewals of a store: in each worker one statement for each lease and chunk, in the order of the names, so that two
 * clients that renew never wait for each other in a circle.
 *
 * <p>A chunk that fails on a connection that works is asked again in parts: one row that somebody keeps locked leaves the
 * other grants as they are. Its own grant is renewed apart from then on, behind the others, until that succeeds.
 *
 * <p>Thread-safe.
 */
final class ServerRenewals {
    /** Large enough to spread the cost of a commit, small enough to let others pass in between. */
    private static final int CHUNK = 128;

    /** How many parts a chunk is asked again in: a locked row costs a time-out for each round of parts. */
    private static final int PARTS = 8;

    private static final int MOST_APART = 1024;

    private final TableOpener tables;
    private final Function<String, ConnectionWorker> workers;
    private final Set<ClaimId> apart = ConcurrentHashMap.newKeySet();

    /** What one worker is asked for together: the same lease, in the order of the names. */
    private record Chunk(ConnectionWorker worker, Duration lease, List<Grant> grants) {
        List<Chunk> parts(int size) {
            return RenewalChunks.split(grants, size).stream()
                    .map(part -> new Chunk(worker, lease, part))
                    .toList();
        }
    }

    private record Key(ConnectionWorker worker, Duration lease) {}

    ServerRenewals(TableOpener tables, Function<String, ConnectionWorker> workers) {
        this.tables = tables;
        this.workers = workers;
    }

    /** A part without an answer is unknown; if there was no answer at all, the failure is the answer. */
    CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        Map<Key, List<Grant>> together = new LinkedHashMap<>();
        List<Chunk> chunks = new ArrayList<>();
        List<Chunk> last = new ArrayList<>();
        grants.stream().sorted(Comparator.comparing(Grant::name)).forEach(grant -> {
            Key key = new Key(workers.apply(grant.name()), grant.lease());
            if (apart.contains(grant.id())) {
                last.add(new Chunk(key.worker, key.lease, List.of(grant)));
            } else {
                together.computeIfAbsent(key, none -> new ArrayList<>()).add(grant);
            }
        });
        together.forEach((key, same) -> chunks.addAll(new Chunk(key.worker, key.lease, same).parts(CHUNK)));
        chunks.addAll(last);
        return ask(chunks);
    }

    private CompletableFuture<Map<ClaimId, Renewal>> ask(List<Chunk> chunks) {
        return RenewalChunks.merged(chunks.stream()
                .map(chunk -> new RenewalChunks.Chunk(chunk.grants, ask(chunk)))
                .toList());
    }

    private CompletableFuture<Map<ClaimId, Renewal>> ask(Chunk chunk) {
        List<Grant> grants = chunk.grants;
        CompletableFuture<Map<ClaimId, Renewal>> asked =
                chunk.worker.askOnce("renew", grants.get(0).name(), table -> renew(table, chunk));
        if (grants.size() == 1) {
            return asked.whenComplete((renewals, failure) -> note(grants.get(0).id(), failure != null));
        }
        return asked.thenCompose(renewals ->
                renewals.isEmpty() ? ask(chunk.parts(Math.max(1, grants.size() / PARTS))) : withRest(chunk, renewals));
    }

    /** Grants for which one request had no time are renewed by another request, behind those of other callers. */
    private CompletionStage<Map<ClaimId, Renewal>> withRest(Chunk chunk, Map<ClaimId, Renewal> renewals) {
        List<Grant> rest = chunk.grants.stream()
                .filter(grant -> !renewals.containsKey(grant.id()))
                .toList();
        if (rest.isEmpty()) {
            return CompletableFuture.completedFuture(renewals);
        }
        Chunk next = new Chunk(chunk.worker, chunk.lease, rest);
        return ask(next).handle((more, failure) -> {
            if (failure == null) {
                renewals.putAll(more);
            } else {
                rest.forEach(grant -> renewals.put(grant.id(), Renewal.unknown(grant.sentNanos())));
            }
            return renewals;
        });
    }

    private void note(ClaimId id, boolean failed) {
        if (!failed) {
            apart.remove(id);
        } else {
            if (apart.size() >= MOST_APART) {
                apart.clear(); // most of them are long over
            }
            apart.add(id);
        }
    }

    /** The answers, or as many as there was time for; none if the chunk is to be asked in parts. */
    private Map<ClaimId, Renewal> renew(LockRows table, Chunk chunk) throws SQLException {
        try {
            return renewNow(table, chunk);
        } catch (SQLException e) {
            if (chunk.grants.size() == 1
                    || tables.errors().isBroken(e)
                    || tables.errors().isReadOnly(e)
                    || table.session().connection().isClosed()) {
                throw e;
            }
            return Map.of();
        }
    }

    private Map<ClaimId, Renewal> renewNow(LockRows table, Chunk chunk) throws SQLException {
        Map<ClaimId, Renewal> renewals = new HashMap<>();
        List<Grant> alone = chunk.grants.stream()
                .filter(grant -> grant.mode() instanceof Mode.Exclusive)
                .toList();
        long sent = tables.stamp();
        Map<String, Boolean> valid = alone.isEmpty() ? Map.of() : table.renew(alone, chunk.lease);
        valid.forEach((id, contended) -> renewals.put(ClaimId.of(id), Renewal.held(sent, contended)));
        Map<String, List<Grant>> others = new LinkedHashMap<>(); // shared, lost, or of a writer that reads on
        for (Grant grant : chunk.grants) {
            if (!renewals.containsKey(grant.id())) {
                others.computeIfAbsent(grant.name(), name -> new ArrayList<>()).add(grant);
            }
        }
        try {
            for (Map.Entry<String, List<Grant>> each : others.entrySet()) {
                renewShared(table, each.getKey(), each.getValue(), chunk.grants.size() == 1, renewals);
            }
        } catch (SqlSession.OutOfTimeException e) {
            if (renewals.isEmpty()) {
                throw e;
            }
        }
        return renewals;
    }

    /** A row that cannot be read, or that changes too often, leaves its own grants unknown; alone it may say why. */
    private void renewShared(
            LockRows table, String name, List<Grant> grants, boolean alone, Map<ClaimId, Renewal> renewals)
            throws SQLException {
        long sent = tables.stamp();
        try {
            Map<String, Boolean> valid = table.renewShared(name, grants);
            for (Grant grant : grants) {
                Boolean contended = valid.get(grant.id().value());
                renewals.put(grant.id(), contended == null ? Renewal.lost(sent) : Renewal.held(sent, contended));
            }
        } catch (HoldfastException e) {
            if (alone) {
                throw e;
            }
            grants.forEach(grant -> renewals.put(grant.id(), Renewal.unknown(grant.sentNanos())));
        }
    }
}
