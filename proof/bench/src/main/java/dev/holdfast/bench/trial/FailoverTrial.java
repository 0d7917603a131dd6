package dev.holdfast.bench.trial;

import dev.holdfast.StaleTokenException;
import dev.holdfast.TokenGate;
import dev.holdfast.bench.run.Schedule;
import dev.holdfast.bench.trial.FailoverPeer.Client;
import dev.holdfast.testbed.RedisSentinels;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A Redis master dies after its only replica was kept from hearing what it last granted, and the replica becomes the master.
 * All libraries meet the same failover: each holds some locks of which the replica has heard, and tries to take some of which
 * it has not; then a second client tries to take all that the first one was granted.
 */
final class FailoverTrial {
    private static final int LOCKS = 5;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final double SECONDS = 1e9;

    /** What was seen of one library in all rounds. */
    private static final class Seen {
        int heard;
        int heardTwice;
        int tried;
        int granted;
        int grantedTwice;
        int higher;
        int staleWrites;
        int refused;
        final List<Long> withoutService = new ArrayList<>();
    }

    private final Map<FailoverPeer, Seen> seen = new EnumMap<>(FailoverPeer.class);
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private FailoverTrial() {
        FailoverPeer.ALL.forEach(peer -> seen.put(peer, new Seen()));
    }

    /** Whether Holdfast keeps what its page says. */
    static boolean run(int rounds) throws Exception {
        FailoverTrial trial = new FailoverTrial();
        try {
            for (int i = 1; i <= rounds; i++) {
                trial.round();
                System.err.println("failover " + i + " of " + rounds);
            }
        } finally {
            trial.threads.shutdownNow();
        }
        return trial.print(rounds);
    }

    private void round() throws Exception {
        Map<FailoverPeer, Client> first = new EnumMap<>(FailoverPeer.class);
        Map<FailoverPeer, Client> second = new EnumMap<>(FailoverPeer.class);
        try (RedisSentinels redis = RedisSentinels.start(1, 1)) {
            try {
                round(redis, first, second);
            } finally {
                Stream.of(first, second)
                        .flatMap(each -> each.values().stream())
                        .parallel()
                        .forEach(Client::close);
            }
        }
    }

    private void round(RedisSentinels redis, Map<FailoverPeer, Client> first, Map<FailoverPeer, Client> second)
            throws Exception {
        for (FailoverPeer peer : FailoverPeer.ALL) {
            first.put(peer, peer.connect(redis.hosts(), RedisSentinels.MASTER));
        }
        Map<FailoverPeer, Map<String, Long>> heard = takeAll(first, "heard");
        heard.forEach((peer, tokens) -> of(peer).heard += tokens.size());
        await("the replica to have all", () -> offset(redis.master()).equals(offset(redis.replica(0))));
        redis.link(0).toClient().hold();
        Map<FailoverPeer, Map<String, Long>> granted = takeAll(first, "unheard");
        granted.forEach((peer, tokens) -> {
            of(peer).tried += LOCKS;
            of(peer).granted += tokens.size();
        });

        long killed = System.nanoTime();
        redis.master().process().kill();
        redis.link(0).cut(); // only now, and what it held is gone with it
        awaitService(first, killed);
        redis.awaitMaster(redis.replica(0));

        for (FailoverPeer peer : FailoverPeer.ALL) {
            second.put(peer, peer.connectLater(redis.hosts(), RedisSentinels.MASTER));
        }
        Map<FailoverPeer, Map<String, Long>> heardAgain = takeAll(second, "heard");
        Map<FailoverPeer, Map<String, Long>> grantedAgain = takeAll(second, "unheard");
        for (FailoverPeer peer : FailoverPeer.ALL) {
            of(peer).heardTwice += twice(peer, of(heard, peer), of(heardAgain, peer));
            of(peer).grantedTwice += twice(peer, of(granted, peer), of(grantedAgain, peer));
        }
    }

    private Seen of(FailoverPeer peer) {
        return Objects.requireNonNull(seen.get(peer));
    }

    private static <T> T of(Map<FailoverPeer, T> map, FailoverPeer peer) {
        return Objects.requireNonNull(map.get(peer));
    }

    /** Each library takes its locks at the same time, each lock on a thread of its own; the tokens of those it was granted. */
    private Map<FailoverPeer, Map<String, Long>> takeAll(Map<FailoverPeer, Client> clients, String prefix)
            throws Exception {
        record Asked(FailoverPeer peer, String lock, Future<OptionalLong> token) {}
        List<Asked> all = new ArrayList<>();
        clients.forEach((peer, client) -> {
            for (int i = 0; i < LOCKS; i++) {
                String lock = prefix + ":" + peer + ":" + i;
                Callable<OptionalLong> take = () -> takenOrRefused(client, lock);
                all.add(new Asked(peer, lock, threads.submit(take)));
            }
        });
        Map<FailoverPeer, Map<String, Long>> tokens = new EnumMap<>(FailoverPeer.class);
        FailoverPeer.ALL.forEach(peer -> tokens.put(peer, new TreeMap<>()));
        for (Asked each : all) {
            each.token.get().ifPresent(token -> of(tokens, each.peer).put(each.lock, token));
        }
        return tokens;
    }

    /** A library that cannot tell says so by an exception: then the caller does not hold the lock. */
    private static OptionalLong takenOrRefused(Client client, String lock) {
        try {
            return client.take(lock);
        } catch (Exception unknown) {
            return OptionalLong.empty();
        }
    }

    /** From the kill until a client that was connected before is granted a free lock again. */
    private void awaitService(Map<FailoverPeer, Client> clients, long killed) throws Exception {
        Map<FailoverPeer, Future<Long>> served = new EnumMap<>(FailoverPeer.class);
        for (FailoverPeer peer : FailoverPeer.ALL) {
            if (peer.servesWithoutReplica()) {
                served.put(peer, threads.submit(() -> {
                    for (int i = 0; ; i++) {
                        if (takenOrRefused(of(clients, peer), "service:" + peer + ":" + i)
                                .isPresent()) {
                            return System.nanoTime() - killed;
                        }
                        Schedule.pause(Duration.ofMillis(5));
                    }
                }));
            }
        }
        for (Map.Entry<FailoverPeer, Future<Long>> each : served.entrySet()) {
            of(each.getKey()).withoutService.add(each.getValue().get());
        }
    }

    /** How many locks a second client was granted, though the first one was and has not given them back. */
    private int twice(FailoverPeer peer, Map<String, Long> first, Map<String, Long> second) {
        int twice = 0;
        for (Map.Entry<String, Long> again : second.entrySet()) {
            Long before = first.get(again.getKey());
            if (before != null) {
                twice++;
                of(peer).higher += again.getValue() > before ? 1 : 0;
                of(peer).staleWrites++;
                of(peer).refused += isRefused(again.getKey(), again.getValue(), before) ? 1 : 0;
            }
        }
        return twice;
    }

    /** Whether a resource that has seen the second holder refuses the first. */
    private static boolean isRefused(String resource, long second, long first) {
        TokenGate gate = new TokenGate(resource);
        gate.check(second);
        try {
            gate.check(first);
            return false;
        } catch (StaleTokenException stale) {
            return true;
        }
    }

    private boolean print(int rounds) throws Exception {
        Trial.describe(rounds + " failovers by one Sentinel (it waits 1 s), one replica, " + LOCKS
                + " locks each way in each; all libraries in one run");
        Trial.head(
                "",
                "replica had heard: held twice afterwards",
                "it had not: granted, of those tried",
                "held twice afterwards",
                "second token is higher",
                "stale writes refused",
                "without service s, median",
                "longest");
        seen.forEach((peer, all) -> Trial.row(
                peer.title,
                all.heardTwice + " of " + all.heard,
                all.granted + " of " + all.tried,
                all.grantedTwice,
                all.higher + " of " + all.staleWrites,
                all.refused + " of " + all.staleWrites,
                seconds(all.withoutService, 0.5),
                seconds(all.withoutService, 1)));
        Seen acks = of(FailoverPeer.HOLDFAST_ACKS);
        Seen plain = of(FailoverPeer.HOLDFAST);
        return acks.heardTwice + acks.grantedTwice + plain.heardTwice == 0 && plain.refused == plain.staleWrites;
    }

    private static String seconds(List<Long> nanos, double quantile) {
        return nanos.isEmpty() ? "–" : "%.2f".formatted(TakingTurns.quantile(nanos, quantile) / SECONDS);
    }

    private static void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException("waited in vain for " + what);
            }
            Schedule.pause(Duration.ofMillis(2));
        }
    }

    private static String offset(RedisServer server) {
        try (RespConnection asked = server.connect()) {
            return asked.call("INFO", "replication")
                    .lines()
                    .filter(line -> line.startsWith("master_repl_offset:"))
                    .findFirst()
                    .orElse("");
        }
    }
}
