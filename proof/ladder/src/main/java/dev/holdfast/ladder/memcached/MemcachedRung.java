package dev.holdfast.ladder.memcached;

import dev.holdfast.ladder.Rung;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import net.spy.memcached.AddrUtil;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.MemcachedClient;

/** What all rungs in Memcached have: a client. The names of locks are their keys. */
abstract class MemcachedRung implements Rung {
    /** A textbook says 30; here tests wait until it is over. */
    static final int LEASE_SECONDS = 2;

    private static final int FOR_EVER = 0;
    private static final int PATIENCE_SECONDS = 20;

    final MemcachedClient memcached;

    /** A client of the servers at HOST:PORT, between commas. */
    MemcachedRung(String servers) {
        try {
            memcached = new MemcachedClient(
                    new ConnectionFactoryBuilder().setDaemon(true).build(), AddrUtil.getAddresses(servers));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    final boolean add(String name, String value) {
        return add(name, FOR_EVER, value);
    }

    final boolean add(String name, int seconds, String value) {
        return answer(memcached.add(name, seconds, value));
    }

    final void touch(String name, int seconds) {
        boolean unused = answer(memcached.touch(name, seconds));
    }

    final void delete(String name) {
        boolean unused = answer(memcached.delete(name));
    }

    private static boolean answer(Future<Boolean> request) {
        try {
            return request.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        memcached.shutdown();
    }
}
