package dev.holdfast.challenge.store;

import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.EtcdCluster;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.ServerProcess;
import java.util.Optional;
import java.util.OptionalInt;

/** Three members of etcd. All clients talk to one of them, which is the one that is killed and cut off. */
final class EtcdTarget implements Target {
    private final EtcdCluster cluster = EtcdCluster.start();
    private final EtcdServer member = cluster.member(cluster.leader());

    @Override
    public String settings() {
        return "etcd " + member.version() + ", three members, clients of one that led at the beginning";
    }

    @Override
    public String url() {
        return "etcd://" + member.endpoint();
    }

    @Override
    public OptionalInt port() {
        return OptionalInt.of(member.port());
    }

    @Override
    public ChunkMatcher isDone() {
        return Replies::isMessage;
    }

    @Override
    public Optional<ServerProcess> process() {
        return Optional.of(member.process());
    }

    @Override
    public void close() {
        cluster.close();
    }
}
