package dev.holdfast.redis;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.TimeSource;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The first questions to a server: its kind, whether it is suitable, and the caveats for its users. A user who may not
 * read INFO is served all the same, without warnings.
 *
 * @param caveats one sentence each
 * @param runId of the server's process; empty where its user may not read it
 * @param slots whether a script may use the keys of one slot only: a cluster behind one address
 */
record ServerCheck(List<String> caveats, String runId, boolean slots) {
    private static final System.Logger LOG = System.getLogger("dev.holdfast.caveat");
    /** The warnings of this process; one line a server, however many clients it has. */
    private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

    private static final int OLDEST = 5;
    private static final String TWO_HOLDERS =
            " Then two clients hold the lock until the first one detects the loss; their tokens differ as far as the servers'"
                    + " clocks agree.";
    private static final String ASYNCHRONOUS =
            "Replication is asynchronous: a failover may forget a grant." + TWO_HOLDERS;

    /** The kind of server that is wanted. */
    enum Wanted {
        SINGLE,
        CLUSTER_NODE,
        QUORUM_MEMBER
    }

    /** Not awaited: if it is refused, the first call carries the script. */
    static void loadScripts(StatefulRedisConnection<byte[], byte[]> connection) {
        Set<Script> scripts = EnumSet.complementOf(EnumSet.of(Script.FENCE));
        scripts.removeAll(Script.OF_QUORUM);
        scripts.forEach(script -> connection.async().scriptLoad(script.body()));
    }

    /**
     * Asks a server.
     *
     * @param onLoop run on the connection's event loop when the first answer arrives
     * @throws dev.holdfast.HoldfastException if it does not answer, or is refused
     */
    static ServerCheck exchange(
            StatefulRedisConnection<byte[], byte[]> connection,
            Runnable onLoop,
            RedisErrors errors,
            Settings settings,
            Wanted wanted) {
        try {
            // The client's timer, and with it the limit of the questions, ends where the client is closed meanwhile.
            return ask(connection, onLoop, errors, settings, wanted)
                    .get(2 * settings.timeout().toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw errors.of(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw errors.of(e);
        } catch (java.util.concurrent.ExecutionException e) {
            throw errors.of(e.getCause() == null ? e : e.getCause());
        }
    }

    /** As {@link #exchange}, for callers that must not block. */
    static CompletableFuture<ServerCheck> ask(
            StatefulRedisConnection<byte[], byte[]> connection,
            Runnable onLoop,
            RedisErrors errors,
            Settings settings,
            Wanted wanted) {
        RedisAsyncCommands<byte[], byte[]> server = connection.async();
        var info = server.info().whenComplete((text, failure) -> onLoop.run());
        var save = server.configGet("save");
        CompletableFuture<String> saves = save.toCompletableFuture()
                .handle((config, failure) -> failure == null ? config.getOrDefault("save", "") : "unknown");
        CompletableFuture<Boolean> slots = wanted == Wanted.SINGLE
                ? server.<Object>eval("return 1", ScriptOutputType.INTEGER, LockKeys.state("a"), LockKeys.state("b"))
                        .toCompletableFuture()
                        .handle((one, failure) -> failure != null
                                && String.valueOf(failure.getMessage()).contains("CROSSSLOT"))
                : CompletableFuture.completedFuture(false);
        CompletableFuture<String> known =
                info.toCompletableFuture().handle((text, failure) -> failure == null ? text : refused(failure, errors));
        // By the client's timer: the timer of orTimeout keeps the class loader of its first user for ever.
        TimeSource.Scheduled limit = settings.time()
                .schedule(
                        () -> {
                            saves.complete("unknown");
                            slots.complete(false);
                            known.completeExceptionally(new TimeoutException());
                        },
                        settings.timeout());
        return known.thenCombine(saves, (text, saved) -> of(fields(text), saved, errors, settings.replicas(), wanted))
                .thenCombine(slots, (check, sorted) -> new ServerCheck(check.caveats(), check.runId(), sorted))
                .whenComplete((done, failure) -> limit.cancel());
    }

    /** Only a missing right is passed over. */
    private static String refused(Throwable failure, RedisErrors errors) {
        if (String.valueOf(failure.getMessage()).contains("NOPERM")) {
            return "";
        }
        throw new CompletionException(errors.of(failure));
    }

    private static ServerCheck of(
            Map<String, String> info, String saves, RedisErrors errors, int replicas, Wanted wanted) {
        String version = info.getOrDefault("redis_version", "");
        if (version.matches("\\d+\\..*") && Integer.parseInt(version.substring(0, version.indexOf('.'))) < OLDEST) {
            throw new StoreRefusedException(
                    errors.store() + " is Redis " + version + ", and locks need Redis 5 or later: upgrade it");
        }
        if (info.getOrDefault("redis_mode", "").equals("sentinel")) {
            throw new StoreRefusedException(
                    errors.store() + " is a Sentinel, which keeps no data: write redis-sentinel://HOST/MASTER");
        }
        checkKind(info, errors, wanted);
        if (wanted != Wanted.CLUSTER_NODE && info.getOrDefault("role", "master").equals("slave")) {
            throw new StoreRefusedException(errors.store() + " is a replica and takes no writes: name its master");
        }
        List<String> warnings = warnings(info, saves, wanted);
        warnings.stream()
                .map(warning -> errors.store() + ": " + warning)
                .filter(WARNED::add)
                .forEach(warning -> LOG.log(System.Logger.Level.WARNING, warning));
        String runId = info.getOrDefault("run_id", "");
        if (wanted == Wanted.QUORUM_MEMBER) {
            return new ServerCheck(List.copyOf(warnings), runId, false);
        }
        List<String> caveats = new ArrayList<>(warnings);
        caveats.add(
                replicas == 0
                        ? ASYNCHRONOUS
                        : "Grants and renewals count once " + replicas
                                + " replicas have them; a failover to another replica may forget a grant."
                                + TWO_HOLDERS);
        return new ServerCheck(List.copyOf(caveats), runId, false);
    }

    private static void checkKind(Map<String, String> info, RedisErrors errors, Wanted wanted) {
        String enabled = info.getOrDefault("cluster_enabled", "unknown");
        if (wanted != Wanted.CLUSTER_NODE && enabled.equals("1")) {
            throw new StoreRefusedException(errors.store()
                    + " is a node of a cluster, and this URL is for a single server: write redis-cluster:// instead");
        }
        if (wanted == Wanted.CLUSTER_NODE && enabled.equals("0")) {
            throw new StoreRefusedException(
                    errors.store() + " is no cluster, but a single server: write redis:// instead of redis-cluster://");
        }
    }

    private static List<String> warnings(Map<String, String> info, String saves, Wanted wanted) {
        List<String> warnings = new ArrayList<>();
        String policy = info.getOrDefault("maxmemory_policy", "noeviction");
        if (!policy.equals("noeviction") && !info.getOrDefault("maxmemory", "0").equals("0")) {
            warnings.add("When its memory is full it evicts keys (maxmemory-policy " + policy
                    + "), locks among them: two may then hold the same lock; set noeviction.");
        }
        boolean sitsOut = wanted == Wanted.QUORUM_MEMBER; // when it was started again
        if (!sitsOut && info.getOrDefault("aof_enabled", "").equals("0") && saves.isEmpty()) {
            warnings.add(
                    "It keeps nothing over a restart (appendonly no, no save): all locks are free after a restart. Keep"
                            + " it down for the longest lease, or set appendonly yes.");
        }
        return warnings;
    }

    private static Map<String, String> fields(String info) {
        Map<String, String> fields = new HashMap<>();
        info.lines().forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0) {
                fields.put(line.substring(0, colon), line.substring(colon + 1).strip());
            }
        });
        return fields;
    }
}
