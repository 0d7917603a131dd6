package dev.holdfast.etcd;

import dev.holdfast.Holder;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.IgnoringListener;
import dev.holdfast.tck.KitTime;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** A store without an engine. */
final class RawStore {
    private RawStore() {}

    static Store open(int port, TimeSource time) {
        return new EtcdStoreProvider().open(Etcd.url("127.0.0.1:" + port), new StoreContext(time));
    }

    static Store open(int port) {
        Store store = open(port, new KitTime());
        store.listen(new IgnoringListener());
        return store;
    }

    static Claim claim(String name, Duration lease, boolean waits) {
        return claim(name, Mode.EXCLUSIVE, lease, waits);
    }

    static Claim claim(String name, Mode mode, Duration lease, boolean waits) {
        return new Claim(ClaimId.random(), name, mode, lease, waits, 0, new Holder("host", 1, "thread", "label"));
    }

    static Grant hold(Store store, String name, Duration lease) {
        return answer(Asked.of(store, claim(name, lease, true)).answer()).orElseThrow();
    }

    static <T> T answer(CompletionStage<T> answer) {
        return answer.toCompletableFuture().orTimeout(60, TimeUnit.SECONDS).join();
    }
}
