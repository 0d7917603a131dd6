package dev.holdfast.challenge.store;

import dev.holdfast.challenge.lock.Locks;
import dev.holdfast.testbed.ServerProcess;
import dev.holdfast.testbed.ZooKeeperServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/** One ZooKeeper server with short ticks, whose sessions are short for every client. */
final class ZooKeeperTarget implements Target {
    private static final String LOCKS = "/holdfast/locks";
    private static final int PATIENCE_MILLIS = 10_000;

    private final ZooKeeperServer server = ZooKeeperServer.start(Map.of(
            "tickTime", Long.toString(Locks.TICK.toMillis()),
            "maxSessionTimeout", Long.toString(Locks.SESSION.toMillis())));

    @Override
    public String settings() {
        String version = server.command("srvr").replaceFirst("(?s)^Zookeeper version: ([\\d.]+).*", "$1");
        return "ZooKeeper " + version + ", one server, tick " + Locks.TICK.toMillis() + " ms, sessions of "
                + Locks.SESSION.toSeconds() + " s";
    }

    @Override
    public String url() {
        return "zk://" + server.connectString();
    }

    @Override
    public Optional<ServerProcess> process() {
        return Optional.of(server.process());
    }

    /**
     * All nodes of claims. The node of a lock without any is a container, which the server removes, once a minute.
     */
    @Override
    public List<String> kept() {
        try (ZooKeeper client = new ZooKeeper(server.connectString(), PATIENCE_MILLIS, event -> {})) {
            List<String> claims = new ArrayList<>();
            for (String bucket : children(client, LOCKS)) {
                for (String lock : children(client, bucket)) {
                    claims.addAll(children(client, lock));
                }
            }
            return claims;
        } catch (IOException | KeeperException e) {
            throw new IllegalStateException("ZooKeeper does not show its nodes", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while it looked at ZooKeeper's nodes", e);
        }
    }

    private static List<String> children(ZooKeeper client, String path) throws KeeperException, InterruptedException {
        try {
            return client.getChildren(path, false).stream()
                    .map(child -> path + "/" + child)
                    .toList();
        } catch (KeeperException.NoNodeException removed) {
            return List.of();
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
