package dev.holdfast.redis;

import dev.holdfast.StoreRefusedException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The first words with a server: what it is, whether it will do, and what its users must know. A user who may not read
 * INFO is served all the same, unwarned.
 *
 * @param caveats one sentence each
 */
record ServerCheck(List<String> caveats) {
    private static final System.Logger LOG = System.getLogger("dev.holdfast.caveat");
    /** What this process has warned of; one line a server, however many clients it has. */
    private static final Set<String> SAID = ConcurrentHashMap.newKeySet();

    private static final int OLDEST = 5;
    private static final String FORGETS =
            ": a failover may forget a grant, and then two hold the same lock until the first"
                    + " finds it lost; tokens tell them apart as far as the servers' clocks agree.";
    private static final String ASYNCHRONOUS = "Replication is asynchronous" + FORGETS;

    /** What kind of server is wanted. */
    enum Wanted {
        SINGLE,
        CLUSTER_NODE
    }

    /** Not awaited: should it be refused, the first call brings the script. */
    static void loadScripts(StatefulRedisConnection<byte[], byte[]> connection) {
        for (Script script : EnumSet.complementOf(EnumSet.of(Script.FENCE))) {
            connection.async().scriptLoad(script.body());
        }
    }

    /**
     * Asks a server.
     *
     * @param onLoop run on the connection's event loop when the first answer is there
     * @throws dev.holdfast.HoldfastException if it does not answer, or will not do
     */
    static ServerCheck exchange(
            StatefulRedisConnection<byte[], byte[]> connection,
            Runnable onLoop,
            RedisErrors errors,
            Settings settings,
            Wanted wanted) {
        long millis = settings.timeout().toMillis();
        RedisAsyncCommands<byte[], byte[]> server = connection.async();
        var info = server.info().whenComplete((text, failure) -> onLoop.run());
        var save = server.configGet("save");
        String told;
        try {
            told = info.toCompletableFuture()
                    .handle((text, failure) -> failure == null ? text : refused(failure, errors))
                    .get(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw errors.of(e);
        } catch (java.util.concurrent.ExecutionException | TimeoutException e) {
            throw errors.of(e.getCause() == null ? e : e.getCause());
        }
        String saves = save.toCompletableFuture()
                .handle((config, failure) -> failure == null ? config.getOrDefault("save", "") : "unknown")
                .completeOnTimeout("unknown", millis, TimeUnit.MILLISECONDS)
                .join();
        return of(fields(told), saves, errors, settings.replicas(), wanted);
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
        if (wanted == Wanted.SINGLE && info.getOrDefault("role", "master").equals("slave")) {
            throw new StoreRefusedException(errors.store() + " is a replica and takes no writes: name its master");
        }
        List<String> warnings = warnings(info, saves);
        warnings.stream()
                .map(warning -> errors.store() + ": " + warning)
                .filter(SAID::add)
                .forEach(warning -> LOG.log(System.Logger.Level.WARNING, warning));
        List<String> caveats = new ArrayList<>(warnings);
        caveats.add(
                replicas == 0
                        ? ASYNCHRONOUS
                        : "Grants and renewals count once " + replicas
                                + " replicas have them; if a replica that has not is made" + " the master" + FORGETS);
        return new ServerCheck(List.copyOf(caveats));
    }

    private static void checkKind(Map<String, String> info, RedisErrors errors, Wanted wanted) {
        String enabled = info.getOrDefault("cluster_enabled", "unknown");
        if (wanted == Wanted.SINGLE && enabled.equals("1")) {
            throw new StoreRefusedException(errors.store()
                    + " is a node of a cluster, and this URL is for a single server: write redis-cluster:// instead");
        }
        if (wanted == Wanted.CLUSTER_NODE && enabled.equals("0")) {
            throw new StoreRefusedException(
                    errors.store() + " is no cluster, but a single server: write redis:// instead of redis-cluster://");
        }
    }

    private static List<String> warnings(Map<String, String> info, String saves) {
        List<String> warnings = new ArrayList<>();
        String policy = info.getOrDefault("maxmemory_policy", "noeviction");
        if (!policy.equals("noeviction") && !info.getOrDefault("maxmemory", "0").equals("0")) {
            warnings.add("When its memory is full it evicts keys (maxmemory-policy " + policy
                    + "), locks among them: two may then hold the same lock; set noeviction.");
        }
        if (info.getOrDefault("aof_enabled", "").equals("0") && saves.isEmpty()) {
            warnings.add("It keeps nothing over a restart (appendonly no, no save): locks held then are free at once;"
                    + " let it stay down for the longest lease, or set appendonly yes.");
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
