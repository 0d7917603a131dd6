package dev.holdfast.bench.peer;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.support.CloseableClient;
import io.grpc.stub.StreamObserver;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * jetcd's client of etcd's own lock service. A lease owns a lock there, not a thread: two threads with one lease hold the
 * lock together. So each thread has a lease of its own, which jetcd keeps alive. After a call that failed it takes a new one,
 * as its user would: the old one may have ended.
 *
 * <p>It has no try. A request that is given up is carried out all the same, unless its lease is revoked.
 */
final class JetcdPeer implements Peer {
    private static final long LEASE_SECONDS = 30;

    private final Client client;
    private final Map<Thread, Lease> leases = new ConcurrentHashMap<>();

    private record Lease(long id, CloseableClient renewal) {}

    JetcdPeer(String url) {
        client = EtcdUrls.client(url);
    }

    @Override
    public PeerLock open(String name, Mode mode) throws ExecutionException, InterruptedException {
        Only.exclusive(mode, this);
        long unused = lease(); // granted before anything is measured
        return new OneLock(ByteSequence.from("jetcd/" + name, UTF_8));
    }

    private long lease() throws ExecutionException, InterruptedException {
        Lease mine = leases.get(Thread.currentThread());
        if (mine == null) {
            long id = client.getLeaseClient().grant(LEASE_SECONDS).get().getID();
            mine = new Lease(id, client.getLeaseClient().keepAlive(id, new Ignoring()));
            leases.put(Thread.currentThread(), mine);
        }
        return mine.id();
    }

    /** What the call that failed may have locked is free again at once, or at the end of the lease. */
    private void giveUpLease() {
        Lease mine = leases.remove(Thread.currentThread());
        if (mine != null) {
            mine.renewal().close();
            Object unused = client.getLeaseClient().revoke(mine.id());
        }
    }

    @Override
    public void close() {
        client.close();
    }

    private final class OneLock implements PeerLock {
        private final ByteSequence name;
        private @Nullable ByteSequence key;

        OneLock(ByteSequence name) {
            this.name = name;
        }

        @Override
        public void acquire() throws ExecutionException, InterruptedException {
            try {
                key = client.getLockClient().lock(name, lease()).get().getKey();
            } catch (ExecutionException failed) {
                giveUpLease();
                throw failed;
            }
        }

        @Override
        public void release() throws ExecutionException, InterruptedException {
            Object unused = client.getLockClient().unlock(key).get();
        }
    }

    /** Nothing here would do anything about a lease that has ended. */
    private static final class Ignoring implements StreamObserver<LeaseKeepAliveResponse> {
        @Override
        public void onNext(LeaseKeepAliveResponse answer) {}

        @Override
        public void onError(Throwable broken) {}

        @Override
        public void onCompleted() {}
    }
}
