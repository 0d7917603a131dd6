package dev.holdfast.testbed;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Three ZooKeeper servers in processes of their own that elect a leader. Each reaches each other one through a proxy of
 * its own, so that any one can be cut off from the others while its clients still reach it.
 *
 * <pre>{@code
 * try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start(Map.of("tickTime", "500"))) {
 *     int leader = ensemble.leader();
 *     ensemble.server(leader).process().kill();
 *     ensemble.cutOff(ensemble.follower());
 * }
 * }</pre>
 *
 * <p>For one thread at a time.
 */
public final class ZooKeeperEnsemble implements AutoCloseable {
    private static final int SERVERS = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<ZooKeeperServer> servers = new ArrayList<>();
    /** Through which server i reaches j: to j's quorum port, to j's election port. */
    private final Map<Route, TcpProxy> proxies;

    private record Route(int from, int to, int kind) {}

    private ZooKeeperEnsemble(Map<Route, TcpProxy> proxies) {
        this.proxies = proxies;
    }

    /**
     * Starts the servers and returns when all serve: with one missing, the failure of another would stop the third too.
     *
     * @param settings lines of each {@code zoo.cfg}
     * @param flags flags of each JVM
     * @throws ServerMissingException when the server's classes are not on the class path
     */
    public static ZooKeeperEnsemble start(Map<String, String> settings, String... flags) {
        int[][] ports = new int[SERVERS][];
        for (int i = 0; i < SERVERS; i++) {
            ports[i] = new int[] {Ports.free(), Ports.free()};
        }
        Map<Route, TcpProxy> proxies = IntStream.range(0, SERVERS * SERVERS * 2)
                .mapToObj(n -> new Route(n / 2 / SERVERS, n / 2 % SERVERS, n % 2))
                .filter(route -> route.from != route.to)
                .collect(Collectors.toMap(route -> route, route -> TcpProxy.to(ports[route.to][route.kind])));
        ZooKeeperEnsemble ensemble = new ZooKeeperEnsemble(proxies);
        try {
            for (int i = 0; i < SERVERS; i++) {
                ensemble.servers.add(ZooKeeperServer.member(i + 1, ensemble.settings(i, ports[i], settings), flags));
            }
            ensemble.awaitAll();
            return ensemble;
        } catch (RuntimeException | Error e) {
            ensemble.close();
            throw e;
        }
    }

    /** The addresses of all, as {@code 127.0.0.1:20304,127.0.0.1:…}. */
    public String connectString() {
        return servers.stream().map(ZooKeeperServer::connectString).collect(Collectors.joining(","));
    }

    /** One of the servers, from 0. */
    public ZooKeeperServer server(int index) {
        return servers.get(index);
    }

    /** Which server leads; awaited where they are electing. */
    public int leader() {
        awaitLeader();
        return indexOf("leader");
    }

    /** A server that follows the leader. */
    public int follower() {
        awaitLeader();
        return indexOf("follower");
    }

    /**
     * Awaits that all servers serve again, one as leader and the others behind it. A leader that was stopped calls itself
     * leader for some time after it goes on, beside the new one.
     */
    public void awaitAll() {
        if (!Await.until(PATIENCE, () -> {
            List<String> states =
                    servers.stream().map(ZooKeeperServer::state).sorted().toList();
            return states.equals(List.of("follower", "follower", "leader"));
        })) {
            throw new AssertionError("not all serve within " + PATIENCE + ": " + servers);
        }
    }

    /** Holds all that passes between one server and the others, with connections open; its clients still reach it. */
    public void cutOff(int index) {
        proxies.forEach((route, proxy) -> {
            if (route.from == index || route.to == index) {
                proxy.toServer().hold();
                proxy.toClient().hold();
            }
        });
    }

    /** Lets everything pass again. */
    public void heal() {
        proxies.values().forEach(TcpProxy::heal);
    }

    /** Kills the servers and deletes their folders. */
    @Override
    public void close() {
        servers.forEach(ZooKeeperServer::close);
        proxies.values().forEach(TcpProxy::close);
    }

    private Map<String, String> settings(int index, int[] own, Map<String, String> more) {
        Map<String, String> settings = new LinkedHashMap<>(more);
        settings.putIfAbsent("initLimit", "20");
        settings.putIfAbsent("syncLimit", "4");
        for (int other = 0; other < SERVERS; other++) {
            int quorum = other == index ? own[0] : proxy(index, other, 0);
            int election = other == index ? own[1] : proxy(index, other, 1);
            settings.put("server." + (other + 1), "127.0.0.1:" + quorum + ":" + election);
        }
        return settings;
    }

    private int proxy(int from, int to, int kind) {
        return Objects.requireNonNull(proxies.get(new Route(from, to, kind))).port();
    }

    private void awaitLeader() {
        if (!Await.until(PATIENCE, () -> indexOf("leader") >= 0 && indexOf("follower") >= 0)) {
            throw new AssertionError("no leader within " + PATIENCE + ": " + servers);
        }
    }

    private int indexOf(String role) {
        for (int i = 0; i < servers.size(); i++) {
            if (servers.get(i).state().equals(role)) {
                return i;
            }
        }
        return -1;
    }
}
