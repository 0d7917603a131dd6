package dev.holdfast.bench.trial;

import dev.holdfast.bench.peer.Peer;
import java.util.List;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's RedLock with its default settings: a client for each of the independent servers. */
final class RedLockPeer implements Peer {
    private final List<RedissonClient> clients;

    RedLockPeer(List<String> urls) {
        this.clients = urls.stream().map(RedLockPeer::connect).toList();
    }

    private static RedissonClient connect(String url) {
        Config config = new Config();
        config.useSingleServer().setAddress(url);
        return Redisson.create(config);
    }

    @Override
    public PeerLock open(String name, Mode mode) {
        return new Majority(clients.stream().map(client -> client.getLock(name)).toArray(RLock[]::new));
    }

    @Override
    public void close() {
        clients.forEach(RedissonClient::shutdown);
    }

    /** Redisson calls the class deprecated, and names its plain lock instead. */
    @SuppressWarnings("deprecation")
    private static final class Majority implements PeerLock {
        private final RLock lock;

        Majority(RLock... members) {
            this.lock = new RedissonRedLock(members);
        }

        @Override
        public void acquire() {
            lock.lock();
        }

        @Override
        public void release() {
            lock.unlock();
        }
    }
}
