package dev.holdfast.bench.trial;

import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.Peer.Mode;
import dev.holdfast.bench.peer.Peer.PeerLock;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.ZooKeeperEnsemble;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a lock costs that a majority has to grant: a quorum of five Redis servers beside one server, Redisson's RedLock on
 * the same five, and a ZooKeeper ensemble of three. One thread takes free locks in turn; each release is confirmed before
 * the next turn.
 */
final class QuorumTrial {
    private static final int MEMBERS = 5;
    private static final int NAMES = 20;
    private static final int ROUNDS = 20;
    private static final Duration ROUND = Duration.ofMillis(750);
    private static final double WANTED = 3;
    private static final double MILLIS = 1e6;
    private static final String ONE = "Holdfast, one Redis server";
    private static final String QUORUM = "Holdfast, quorum of 5 Redis servers";

    /** What is measured, and the locks of the one thread that takes them. */
    private record Contender(String title, List<PeerLock> locks) {}

    /** A turn: until the lock is held, and until its release is confirmed. */
    private record Turn(long acquired, long whole) {}

    private QuorumTrial() {}

    /** Whether the quorum keeps its bound. */
    static boolean run() throws Exception {
        List<AutoCloseable> open = new ArrayList<>();
        try {
            return run(open);
        } finally {
            for (int i = open.size() - 1; i >= 0; i--) {
                open.get(i).close();
            }
        }
    }

    private static boolean run(List<AutoCloseable> open) throws Exception {
        RedisServer single = opened(open, RedisServer.start());
        List<RedisServer> members = new ArrayList<>();
        for (int i = 0; i < MEMBERS; i++) {
            RedisServer member = opened(open, RedisServer.start());
            member.call("SET", "holdfast:quorum", "1 0 0 -"); // as an administrator sets up a new quorum
            members.add(member);
        }
        List<String> urls = members.stream().map(RedisServer::uri).toList();
        ZooKeeperEnsemble ensemble = opened(open, ZooKeeperEnsemble.start(Map.of(), "-Xmx256m"));
        String zooKeeper = "zk://" + ensemble.connectString();

        List<Contender> contenders = new ArrayList<>();
        contenders.add(contender(open, ONE, Peers.AWAIT_RELEASE, StoreKind.REDIS, single.uri()));
        contenders.add(contender(
                open,
                QUORUM,
                Peers.AWAIT_RELEASE,
                StoreKind.REDIS,
                urls.stream().collect(Collectors.joining(",", "quorum:", ""))));
        contenders.add(contender(open, "Redisson, one Redis server", "redisson", StoreKind.REDIS, single.uri()));
        contenders.add(contender("Redisson RedLock, 5 Redis servers", opened(open, new RedLockPeer(urls))));
        contenders.add(contender(
                open, "Holdfast, ZooKeeper ensemble of 3", Peers.AWAIT_RELEASE, StoreKind.ZOOKEEPER, zooKeeper));
        contenders.add(contender(open, "Curator, ZooKeeper ensemble of 3", "curator", StoreKind.ZOOKEEPER, zooKeeper));

        Trial.describe("one thread, " + NAMES + " free locks in turn, each release confirmed; " + ROUNDS + " rounds of "
                + ROUND.toMillis() + " ms each, all taking turns; nothing is forced to disk by Redis");
        Map<Contender, List<Turn>> turns = TakingTurns.figures(contenders, ROUNDS, QuorumTrial::round);
        Trial.describe("after all rounds");
        return print(turns);
    }

    private static <T extends AutoCloseable> T opened(List<AutoCloseable> open, T resource) {
        open.add(resource);
        return resource;
    }

    private static Contender contender(List<AutoCloseable> open, String title, String peer, StoreKind store, String url)
            throws Exception {
        return contender(title, opened(open, Peers.of(peer, store).connect(url, 1)));
    }

    private static Contender contender(String title, Peer peer) throws Exception {
        List<PeerLock> locks = new ArrayList<>();
        for (int i = 0; i < NAMES; i++) {
            locks.add(peer.open("majority-" + i, Mode.EXCLUSIVE));
        }
        return new Contender(title, locks);
    }

    private static List<Turn> round(Contender contender) throws Exception {
        List<Turn> turns = new ArrayList<>();
        long end = System.nanoTime() + ROUND.toNanos();
        for (int i = 0; System.nanoTime() - end < 0; i++) {
            PeerLock lock = contender.locks.get(i % NAMES);
            long begun = System.nanoTime();
            lock.acquire();
            long acquired = System.nanoTime();
            lock.release();
            turns.add(new Turn(acquired - begun, System.nanoTime() - begun));
        }
        return turns;
    }

    private static boolean print(Map<Contender, List<Turn>> turns) {
        Trial.head(
                "",
                "acquire ms, median",
                "99 %",
                "acquire and release ms, median",
                "turns",
                "× Holdfast on one server");
        double one = turns.entrySet().stream()
                .filter(each -> each.getKey().title.equals(ONE))
                .mapToDouble(each -> acquire(each.getValue(), 0.5))
                .findFirst()
                .orElseThrow();
        boolean kept = true;
        for (Map.Entry<Contender, List<Turn>> each : turns.entrySet()) {
            double median = acquire(each.getValue(), 0.5);
            Trial.row(
                    each.getKey().title,
                    format(median),
                    format(acquire(each.getValue(), 0.99)),
                    format(TakingTurns.median(
                                    each.getValue().stream().map(Turn::whole).toList())
                            / MILLIS),
                    each.getValue().size(),
                    format(median / one));
            kept &= !each.getKey().title.equals(QUORUM) || median <= WANTED * one;
        }
        System.out.printf("%nwanted: quorum of 5 at most %.0f × one server%n", WANTED);
        return kept;
    }

    private static double acquire(List<Turn> turns, double quantile) {
        return TakingTurns.quantile(turns.stream().map(Turn::acquired).toList(), quantile) / MILLIS;
    }

    private static String format(double figure) {
        return "%.2f".formatted(figure);
    }
}
