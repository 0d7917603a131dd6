package dev.holdfast.challenge.store;

import dev.holdfast.challenge.lock.Locks;
import dev.holdfast.testbed.ServerProcess;
import dev.holdfast.testbed.ZooKeeperServer;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** One ZooKeeper server with short ticks, whose sessions are short for every client. */
final class ZooKeeperTarget implements Target {
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
    public OptionalInt port() {
        return OptionalInt.of(server.port());
    }

    @Override
    public Optional<ServerProcess> process() {
        return Optional.of(server.process());
    }

    @Override
    public void close() {
        server.close();
    }
}
