package dev.holdfast.ladder.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.ladder.Rung;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** What all rungs in etcd have: a client. The names of locks are keys. */
abstract class EtcdRung implements Rung {
    /** A textbook says 30; here tests wait until it is over. */
    static final int LEASE_SECONDS = 2;

    static final long NO_LEASE = 0;
    private static final int PATIENCE_SECONDS = 20;

    final Client etcd;

    /** A client of the servers at HOST:PORT, between commas. */
    EtcdRung(String servers) {
        etcd = Client.builder()
                .endpoints(Stream.of(servers.split(",")).map("http://"::concat).toArray(String[]::new))
                .build();
    }

    /** A lease that nobody keeps alive. */
    final long lease() {
        return answer(etcd.getLeaseClient().grant(LEASE_SECONDS)).getID();
    }

    /** Makes a key unless it is there, in one transaction. */
    final boolean putIfAbsent(String name, long lease) {
        return answer(etcd.getKVClient()
                        .txn()
                        .If(new Cmp(key(name), Cmp.Op.EQUAL, CmpTarget.createRevision(0)))
                        .Then(Op.put(
                                key(name),
                                key("locked"),
                                PutOption.builder().withLeaseId(lease).build()))
                        .commit())
                .isSucceeded();
    }

    final void delete(String name) {
        Object unused = answer(etcd.getKVClient().delete(key(name)));
    }

    static ByteSequence key(String text) {
        return ByteSequence.from(text, UTF_8);
    }

    static <T> T answer(CompletableFuture<T> request) {
        return request.orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
    }

    @Override
    public final void close() {
        etcd.close();
    }
}
