package dev.holdfast.redis;

import dev.holdfast.testbed.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Independent servers. */
final class QuorumServers implements AutoCloseable {
    private final List<RedisServer> servers = new ArrayList<>();

    private QuorumServers() {}

    /** Starts servers that know that no lock was kept before: as an administrator sets up a new quorum. */
    static QuorumServers start(int members, String... options) {
        QuorumServers started = startNew(members, options);
        started.servers.forEach(QuorumServers::setUp);
        return started;
    }

    /** Starts servers that may have lost locks, for all that is known. */
    static QuorumServers startNew(int members, String... options) {
        QuorumServers started = new QuorumServers();
        try {
            for (int i = 0; i < members; i++) {
                started.servers.add(RedisServer.start(options));
            }
            return started;
        } catch (RuntimeException | Error e) {
            started.close();
            throw e;
        }
    }

    static void setUp(RedisServer server) {
        server.call("SET", "holdfast:quorum", "1 0 0 -");
    }

    String url() {
        return servers.stream().map(RedisServer::uri).collect(Collectors.joining(",", "quorum:", ""));
    }

    RedisServer get(int member) {
        return servers.get(member);
    }

    List<RedisServer> all() {
        return servers;
    }

    @Override
    public void close() {
        servers.forEach(RedisServer::close);
    }
}
