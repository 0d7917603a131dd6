package dev.holdfast.testbed;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Three members of one etcd in processes of their own, which elect a leader. Each is reached by the others through a {@link
 * PeerGate}, so that any one can be cut off from them while its clients still reach it.
 *
 * <pre>{@code
 * try (EtcdCluster cluster = EtcdCluster.start()) {
 *     cluster.cutOff(cluster.leader());
 *     cluster.heal();
 * }
 * }</pre>
 *
 * <p>For one thread at a time.
 */
public final class EtcdCluster implements AutoCloseable {
    /** How many members it has. */
    public static final int MEMBERS = 3;

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<EtcdServer> members = new ArrayList<>();
    private final List<PeerGate> gates;

    private EtcdCluster(List<PeerGate> gates) {
        this.gates = gates;
    }

    /**
     * Starts the members and returns when they have a leader.
     *
     * @param options more options of each command line
     * @throws ServerMissingException when there is no etcd on this machine
     */
    public static EtcdCluster start(String... options) {
        int[] ports = IntStream.range(0, MEMBERS).map(i -> Ports.free()).toArray();
        EtcdCluster cluster =
                new EtcdCluster(IntStream.of(ports).mapToObj(PeerGate::to).toList());
        String all = IntStream.range(0, MEMBERS)
                .mapToObj(i -> "etcd" + i + "=" + cluster.peerUrl(i))
                .collect(Collectors.joining(","));
        try {
            for (int i = 0; i < MEMBERS; i++) {
                List<String> more = new ArrayList<>(
                        List.of("--initial-advertise-peer-urls=" + cluster.peerUrl(i), "--initial-cluster=" + all));
                more.addAll(List.of(options));
                cluster.members.add(EtcdServer.member("etcd" + i, ports[i], more, false));
            }
            cluster.leader();
            return cluster;
        } catch (RuntimeException | Error e) {
            cluster.close();
            throw e;
        }
    }

    private String peerUrl(int member) {
        return "http://127.0.0.1:" + gates.get(member).port();
    }

    /** The addresses of all, as {@code 127.0.0.1:20304,127.0.0.1:…}. */
    public String endpoints() {
        return members.stream().map(EtcdServer::endpoint).collect(Collectors.joining(","));
    }

    /** One of the members, from 0. */
    public EtcdServer member(int index) {
        return members.get(index);
    }

    /** Which member leads by the account of a majority; awaited while they elect. */
    public int leader() {
        int[] leader = {-1};
        if (!Await.until(PATIENCE, () -> {
            leader[0] = leaderNow();
            return leader[0] >= 0;
        })) {
            throw new AssertionError("no leader within " + PATIENCE + ": " + members);
        }
        return leader[0];
    }

    /** A member that follows the leader. */
    public int follower() {
        return (leader() + 1) % MEMBERS;
    }

    private int leaderNow() {
        int[] named = new int[MEMBERS];
        long[] ids = new long[MEMBERS];
        long[] leaders = new long[MEMBERS];
        for (int i = 0; i < MEMBERS; i++) {
            try {
                String status = members.get(i).ask("maintenance/status", "{}", EtcdServer.READINESS);
                ids[i] = EtcdServer.field(status, "member_id");
                leaders[i] = EtcdServer.field(status, "leader");
            } catch (IllegalStateException stopped) {
                // it has no voice
            }
        }
        for (int i = 0; i < MEMBERS; i++) {
            for (int j = 0; j < MEMBERS; j++) {
                named[i] += ids[i] != 0 && ids[i] == leaders[j] ? 1 : 0;
            }
            if (named[i] > MEMBERS / 2) {
                return i;
            }
        }
        return -1;
    }

    /** Holds all that passes between one member and the others, with connections open; its clients still reach it. */
    public void cutOff(int index) {
        String id = Long.toHexString(EtcdServer.field(members.get(index).ask("maintenance/status", "{}"), "member_id"));
        for (int i = 0; i < MEMBERS; i++) {
            gates.get(i).hold(i == index ? "" : id);
        }
    }

    /** Lets everything pass again. */
    public void heal() {
        gates.forEach(PeerGate::open);
    }

    /** Kills the members and deletes their folders. */
    @Override
    public void close() {
        members.forEach(EtcdServer::close);
        gates.forEach(PeerGate::close);
    }
}
