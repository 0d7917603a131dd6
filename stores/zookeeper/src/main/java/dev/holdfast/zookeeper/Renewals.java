package dev.holdfast.zookeeper;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.zookeeper.Session.Found;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Renews grants: the session carries them all. One write for the batch, which changes nothing, proves that the session
 * lives; and what is read behind it, the children of each lock and once, with a watch, each node, is no older.
 * Thread-safe.
 */
final class Renewals {
    private final Locks locks;

    Renewals(Locks locks) {
        this.locks = locks;
    }

    CompletableFuture<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        CompletableFuture<Map<ClaimId, Renewal>> renewed = new CompletableFuture<>();
        if (grants.isEmpty()) {
            renewed.complete(Map.of());
        } else {
            List<Grant> batch = List.copyOf(grants);
            locks.connection()
                    .whenConnected(
                            renewed, now -> locks.time().schedule(() -> send(now, batch, renewed), now.putOff()));
        }
        return renewed;
    }

    /** What is asked of one grant. */
    private record Asked(
            Grant grant,
            @Nullable Standing standing,
            Line.Seen line,
            @Nullable Found node) {}

    private void send(Session now, List<Grant> batch, CompletableFuture<Map<ClaimId, Renewal>> renewed) {
        long asked = locks.time().nanoTime();
        List<CompletableFuture<Asked>> questions = new ArrayList<>(batch.size());
        Map<String, CompletableFuture<Line.Seen>> lines = new HashMap<>();
        CompletableFuture<Code> proved = now.prove(locks.paths().locks());
        for (Grant grant : batch) {
            Standing standing = locks.standings().get(grant.id());
            if (standing != null && standing.session() == now) {
                String lock = locks.paths().lock(grant.name());
                questions.add(ask(now, grant, standing, lines.computeIfAbsent(lock, path -> line(now, path))));
            } else {
                questions.add(CompletableFuture.completedFuture(new Asked(grant, null, Line.Seen.NOTHING, null)));
            }
        }
        CompletableFuture<?>[] all = questions.toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(all).thenCombine(proved, (nothing, code) -> {
            Map<ClaimId, Renewal> verdicts = new LinkedHashMap<>();
            for (CompletableFuture<Asked> question : questions) {
                Asked said = question.join();
                verdicts.put(said.grant.id(), verdict(now, said, code, asked));
            }
            return renewed.complete(verdicts);
        });
    }

    /** Once for all grants of a lock: of permits one client may have very many. */
    private static CompletableFuture<Line.Seen> line(Session now, String lock) {
        return now.children(lock).thenApply(Line.Seen::of);
    }

    private static CompletableFuture<Asked> ask(
            Session now, Grant grant, Standing standing, CompletableFuture<Line.Seen> line) {
        CompletableFuture<@Nullable Found> node = standing.isWatched()
                ? CompletableFuture.completedFuture(null)
                : now.watch(standing.path(), standing).thenApply(found -> found);
        return line.thenCombine(node, (seen, found) -> new Asked(grant, standing, seen, found));
    }

    private Renewal verdict(Session now, Asked said, Code proved, long asked) {
        Standing standing = said.standing;
        if (standing == null) {
            return Errors.isOfConnection(proved) ? Renewal.unknown(asked) : Renewal.lost(asked);
        }
        Found node = said.node;
        Code code = proved == Code.OK ? said.line.code() : proved;
        if (code != Code.OK && code != Code.NONODE) {
            return Renewal.unknown(asked);
        }
        if (node != null && node.code() != Code.NONODE) {
            Stat stat = node.stat();
            if (stat == null) {
                return Renewal.unknown(asked);
            }
            standing.setWatched();
            if (stat.getVersion() > 0) {
                locks.standings().broken(standing);
            }
        }
        if (!said.line.names().contains(standing.node())) {
            locks.standings().gone(standing);
        }
        if (locks.standings().get(said.grant.id()) != standing) {
            return Renewal.lost(asked);
        }
        return Renewal.held(now.begin(), said.line.contended());
    }
}
