package dev.holdfast.zookeeper;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.zookeeper.Session.Found;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * Renews grants: the session carries them all. One write, which changes nothing, proves that the session lives. What is
 * read after it is no older: the children of each lock and each node, once, with a watch. The next renewal sends its write
 * first; when that is answered, it reads the children of the locks whose queue has changed, and of no others.
 *
 * <p>Many new grants take many reads. Only some are under way at a time, and each has the time-out of a request, so that the
 * number of grants decides how long a renewal takes, not whether it succeeds. Meanwhile the session is proved again from
 * time to time. Thread-safe.
 */
final class Renewals {
    /** Enough to keep a distant server busy, and few enough that other requests do not wait long behind them. */
    static final int AT_A_TIME = 1_000;

    private static final int READS_PER_PROOF = 1_000;

    private final ZooKeeperContext context;

    Renewals(ZooKeeperContext context) {
        this.context = context;
    }

    CompletableFuture<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        if (grants.isEmpty()) {
            return CompletableFuture.completedFuture(Map.of());
        }
        List<Grant> batch = List.copyOf(grants);
        CompletableFuture<Session> ready = new CompletableFuture<>();
        context.connection().whenConnected(ready, now -> now.afterPutOff(ready));
        context.timeouts().end(ready);
        return ready.thenCompose(now -> new Batch(now, batch).renew());
    }

    /** Grants that are renewed together. */
    private final class Batch {
        private final Session now;
        private final List<Grant> grants;
        private final long asked = context.time().nanoTime();
        private final Map<ClaimId, HeldNode> heldNodes = new HashMap<>();
        private final Set<String> remembered = new HashSet<>();
        private final Map<String, Predecessors.Seen> queues = new ConcurrentHashMap<>();
        private final Map<ClaimId, Code> nodes = new ConcurrentHashMap<>();
        private volatile Code proved = Code.OK;

        Batch(Session now, List<Grant> grants) {
            this.now = now;
            this.grants = grants;
        }

        /** Fails as a whole if the connection breaks, or one request is not answered in time. */
        CompletableFuture<Map<ClaimId, Renewal>> renew() {
            return ThrottledRequests.ask(AT_A_TIME, requests(), this::ask)
                    .thenCompose(answered -> ThrottledRequests.ask(AT_A_TIME, readsOfChanged(), this::ask))
                    .thenApply(answered -> verdicts());
        }

        private CompletableFuture<Code> ask(Supplier<CompletableFuture<Code>> request) {
            CompletableFuture<Code> answer = request.get();
            context.timeouts().end(answer);
            return answer.thenApply(code -> {
                if (Errors.isOfConnection(code)) {
                    throw context.errors().of(code, context.paths().locks());
                }
                return code;
            });
        }

        private List<Supplier<CompletableFuture<Code>>> requests() {
            List<Supplier<CompletableFuture<Code>>> reads = reads();
            List<Supplier<CompletableFuture<Code>>> requests = new ArrayList<>(List.of(this::prove));
            for (int i = 0; i < reads.size(); i++) {
                requests.add(reads.get(i));
                if (i % READS_PER_PROOF == READS_PER_PROOF - 1) {
                    requests.add(this::prove);
                }
            }
            return requests;
        }

        /** The children once for all grants of a lock: of permits one client may have very many. */
        private List<Supplier<CompletableFuture<Code>>> reads() {
            List<Supplier<CompletableFuture<Code>>> reads = new ArrayList<>();
            Set<String> listed = new HashSet<>();
            for (Grant grant : grants) {
                HeldNode heldNode = context.heldNodes().get(grant.id());
                if (heldNode == null || heldNode.session() != now) {
                    continue;
                }
                heldNodes.put(grant.id(), heldNode);
                String lock = heldNode.lock();
                if (listed.add(lock)) {
                    if (now.queues().isRemembered(lock)) {
                        remembered.add(lock);
                    } else {
                        reads.add(() -> readQueue(lock));
                    }
                }
                if (!heldNode.isWatched()) {
                    reads.add(() -> watch(heldNode));
                }
            }
            return reads;
        }

        private CompletableFuture<Code> prove() {
            return now.prove(context.paths().locks()).thenApply(code -> {
                if (code != Code.OK) {
                    proved = code;
                }
                return code;
            });
        }

        /** By now the write is answered, and with it every report of a change before it is here. */
        private List<Supplier<CompletableFuture<Code>>> readsOfChanged() {
            List<Supplier<CompletableFuture<Code>>> reads = new ArrayList<>();
            for (String lock : remembered) {
                Predecessors.Seen seen = now.queues().unchanged(lock);
                if (seen == null) {
                    reads.add(() -> readQueue(lock));
                } else {
                    queues.put(lock, seen);
                }
            }
            return reads;
        }

        private CompletableFuture<Code> readQueue(String lock) {
            return now.queues().read(now, lock).thenApply(seen -> {
                queues.put(lock, seen);
                return seen.code();
            });
        }

        private CompletableFuture<Code> watch(HeldNode heldNode) {
            int lostBefore = now.connectionsLost();
            return now.watch(heldNode.path(), heldNode).thenApply(found -> {
                nodes.put(heldNode.grant().id(), found.code());
                seen(heldNode, found, lostBefore);
                return found.code();
            });
        }

        /** A change after this is reported by the watch; one before it is seen only here. */
        private void seen(HeldNode heldNode, Found found, int lostBefore) {
            Stat stat = found.stat();
            if (found.code() == Code.NONODE) {
                context.heldNodes().gone(heldNode);
            } else if (stat != null) {
                heldNode.setWatched(lostBefore);
                if (stat.getVersion() > 0) {
                    context.heldNodes().broken(heldNode);
                }
            }
        }

        private Map<ClaimId, Renewal> verdicts() {
            Map<ClaimId, Renewal> verdicts = new LinkedHashMap<>();
            grants.forEach(grant -> verdicts.put(grant.id(), verdict(grant)));
            return verdicts;
        }

        private Renewal verdict(Grant grant) {
            HeldNode heldNode = heldNodes.get(grant.id());
            if (heldNode == null) {
                return Renewal.lost(asked);
            }
            Predecessors.Seen queue = queues.getOrDefault(heldNode.lock(), Predecessors.Seen.NOTHING);
            if (!Errors.isKnown(proved)
                    || !Errors.isKnown(queue.code())
                    || !Errors.isKnown(nodes.getOrDefault(grant.id(), Code.OK))) {
                return Renewal.unknown(asked);
            }
            if (!queue.names().contains(heldNode.node())) {
                context.heldNodes().gone(heldNode);
            }
            if (context.heldNodes().get(grant.id()) != heldNode) {
                return Renewal.lost(asked);
            }
            return Renewal.held(now.begin(), queue.contended());
        }
    }
}
