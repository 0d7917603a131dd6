package dev.holdfast.etcd;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.StoreContract;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.Started;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** The contract on a single server; a class for each of its storeys. */
abstract class EtcdContract extends StoreContract {
    @Started
    private static EtcdServer server;

    @Override
    protected Store open(StoreContext context) {
        return new EtcdStoreProvider().open(Etcd.url(server.endpoint(), "8s"), context);
    }

    /** Of JVMs that have just started, and wait for a server that answers. */
    @Override
    protected Optional<String> url() {
        return Optional.of("etcd://" + server.endpoint() + "?timeout=1m");
    }

    /** A server that has stopped, with all connections open. */
    @Override
    protected Optional<AutoCloseable> breakStore() {
        server.process().stop();
        return Optional.of(server.process()::cont);
    }

    /** Longer than requests may take. */
    @Override
    protected Duration patience() {
        return Duration.ofSeconds(30);
    }

    /** Keys of every kind. */
    @Override
    protected OptionalLong records() {
        return OptionalLong.of(Etcd.keys(server));
    }

    @Override
    protected Set<String> expectedSkips() {
        return SKIPS_WITHOUT_LEASES;
    }
}
