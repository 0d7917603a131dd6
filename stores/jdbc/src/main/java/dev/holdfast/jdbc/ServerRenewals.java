package dev.holdfast.jdbc;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * One request of the engine to renew: in each lane one statement for each lease and chunk, in the order of the names, so
 * that two who renew never wait for each other in a circle. Thread-safe.
 */
final class ServerRenewals {
    /** Large enough to spread the cost of a commit, small enough to let others pass in between. */
    private static final int CHUNK = 128;

    private final RowTables tables;
    private final List<CompletableFuture<Map<ClaimId, Renewal>>> parts = new ArrayList<>();
    private final List<List<Grant>> asked = new ArrayList<>();
    private final CompletableFuture<Map<ClaimId, Renewal>> answer = new CompletableFuture<>();

    ServerRenewals(RowTables tables, Collection<Grant> grants, Function<String, Lane> lanes) {
        this.tables = tables;
        Map<Lane, Map<Duration, List<Grant>>> sorted = new LinkedHashMap<>();
        grants.stream()
                .sorted(Comparator.comparing(Grant::name))
                .forEach(grant -> sorted.computeIfAbsent(lanes.apply(grant.name()), lane -> new LinkedHashMap<>())
                        .computeIfAbsent(grant.lease(), lease -> new ArrayList<>())
                        .add(grant));
        sorted.forEach((lane, byLease) -> byLease.forEach((lease, same) -> {
            for (int from = 0; from < same.size(); from += CHUNK) {
                ask(lane, List.copyOf(same.subList(from, Math.min(from + CHUNK, same.size()))), lease);
            }
        }));
        CompletableFuture.allOf(parts.toArray(CompletableFuture<?>[]::new)).whenComplete((done, failure) -> merge());
    }

    CompletionStage<Map<ClaimId, Renewal>> answer() {
        return answer;
    }

    private void ask(Lane lane, List<Grant> grants, Duration lease) {
        asked.add(grants);
        parts.add(lane.askOnce("renew", grants.get(0).name(), table -> renew(table, grants, lease)));
    }

    private Map<ClaimId, Renewal> renew(RowTable table, List<Grant> grants, Duration lease) throws SQLException {
        Map<ClaimId, Renewal> renewals = new HashMap<>();
        List<Grant> alone = grants.stream()
                .filter(grant -> grant.mode() instanceof Mode.Exclusive)
                .toList();
        long sent = tables.stamp();
        Map<String, Boolean> stand = alone.isEmpty() ? Map.of() : table.renew(alone, lease);
        stand.forEach((id, contended) -> renewals.put(new ClaimId(id), Renewal.held(sent, contended)));
        for (Grant grant : grants) {
            if (!renewals.containsKey(grant.id())) { // shared, lost, or of a writer who reads on
                long before = tables.stamp();
                renewals.put(
                        grant.id(),
                        table.renewShared(grant)
                                .map(contended -> Renewal.held(before, contended))
                                .orElseGet(() -> Renewal.lost(before)));
            }
        }
        return renewals;
    }

    /** A part without an answer is unknown; if there was no answer at all, the failure is the answer. */
    private void merge() {
        Map<ClaimId, Renewal> merged = new HashMap<>();
        for (int i = 0; i < parts.size(); i++) {
            List<Grant> grants = asked.get(i);
            parts.get(i).whenComplete((renewals, failure) -> {
                if (failure == null) {
                    merged.putAll(renewals);
                } else {
                    grants.forEach(grant -> merged.put(grant.id(), Renewal.unknown(grant.sentNanos())));
                }
            });
        }
        if (parts.isEmpty() || parts.stream().anyMatch(part -> !part.isCompletedExceptionally())) {
            answer.complete(merged);
        } else {
            parts.get(0).whenComplete((renewals, failure) -> answer.completeExceptionally(failure));
        }
    }
}
