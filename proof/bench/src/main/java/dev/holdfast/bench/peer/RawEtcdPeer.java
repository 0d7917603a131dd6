package dev.holdfast.bench.peer;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import java.time.Duration;
import java.util.concurrent.ExecutionException;

/** One key, put unless it is there, and deleted: what etcd itself costs. */
final class RawEtcdPeer implements Peer {
    private static final long LEASE_SECONDS = 3_600;

    private final Client client;
    private final long lease;

    RawEtcdPeer(String url) throws ExecutionException, InterruptedException {
        client = EtcdUrls.client(url);
        lease = client.getLeaseClient().grant(LEASE_SECONDS).get().getID();
    }

    @Override
    public PeerLock open(String name, Mode mode) {
        Only.exclusive(mode, this);
        return new OneLock(client, ByteSequence.from("raw/" + name, UTF_8), lease);
    }

    @Override
    public void close() {
        client.close();
    }

    private record OneLock(Client client, ByteSequence key, long lease) implements PeerLock {
        @Override
        public void acquire() throws ExecutionException, InterruptedException {
            RetryLoop.<ExecutionException>until(this::take);
        }

        @Override
        public boolean tryAcquire(Duration patience) throws ExecutionException, InterruptedException {
            return RetryLoop.<ExecutionException>within(patience, this::take);
        }

        private boolean take() throws ExecutionException {
            try {
                return client.getKVClient()
                        .txn()
                        .If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0)))
                        .Then(Op.put(
                                key,
                                ByteSequence.EMPTY,
                                PutOption.builder().withLeaseId(lease).build()))
                        .commit()
                        .get()
                        .isSucceeded();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }

        @Override
        public void release() throws ExecutionException, InterruptedException {
            Object unused = client.getKVClient().delete(key).get();
        }
    }
}
