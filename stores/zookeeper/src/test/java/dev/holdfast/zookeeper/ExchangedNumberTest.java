package dev.holdfast.zookeeper;

import static dev.holdfast.zookeeper.RawStore.claim;
import static dev.holdfast.zookeeper.RawStore.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.ZooKeeperServer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.AsyncCallback.Children2Callback;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A token is the one that status shows, also where others come and go while a node is made. */
@Timeout(60)
class ExchangedNumberTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(30);
    private static final int TOKENS_PER_NUMBER = 1024;
    private static final HoldOptions ALONE = HoldOptions.defaults().handOver(0, Duration.ZERO);

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    /** Done once, after the next write of several steps has been carried out and before what follows it is sent. */
    private final AtomicReference<Runnable> between = new AtomicReference<>();

    @Test
    void aWaiterThatLeavesWhileAnotherClaimsAgainDoesNotChangeItsToken() throws Exception {
        try (CuratorFramework curator = curator();
                LockClient client = LockClient.builder(ZooKeeperStores.on(curator, ZooKeeperServers.options()))
                        .build();
                LockClient rival = LockClient.connect(ZooKeeperServers.url(server))) {
            Hold first = client.lock("left", ALONE).acquire();
            CompletableFuture<Hold> waiting = rival.lock("left").acquireAsync();
            await().atMost(TIME_LIMIT).until(() -> rival.lock("left").status().waiting() == 1);
            CompletableFuture<Hold> next = client.lock("left", ALONE).acquireAsync();
            between.set(() -> leave(rival, waiting));

            first.close();

            try (Hold second = next.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                assertThat(between).as("done").hasValue(null);
                assertThat(second.token()).isEqualTo(shown(rival, "left"));
            }
        }
    }

    @Test
    void anotherThatComesAndGoesWhileALockIsMadeDoesNotChangeItsToken() throws Exception {
        try (CuratorFramework curator = curator();
                LockClient client = LockClient.builder(ZooKeeperStores.on(curator, ZooKeeperServers.options()))
                        .build();
                LockClient rival = LockClient.connect(ZooKeeperServers.url(server))) {
            rival.lock("new").acquire().close(); // makes the bucket, which stays
            await().atMost(TIME_LIMIT).until(() -> curator.checkExists().forPath(new Paths("").lock("new")) == null);
            between.set(() -> acquireAndRelease(rival, "new"));

            try (Hold hold = client.lock("new").acquire()) {
                assertThat(between).as("done").hasValue(null);
                assertThat(hold.token()).isEqualTo(shown(rival, "new"));
            }
        }
    }

    @Test
    void anotherThatComesAndGoesWhileTheSameClientClaimsAgainDoesNotChangeItsToken() throws Exception {
        try (CuratorFramework curator = curator();
                LockClient client = LockClient.builder(ZooKeeperStores.on(curator, ZooKeeperServers.options()))
                        .build();
                LockClient rival = LockClient.connect(ZooKeeperServers.url(server))) {
            Hold first = client.lock("passed", ALONE).acquire();
            CompletableFuture<Hold> next = client.lock("passed", ALONE).acquireAsync();
            between.set(() -> acquireAndRelease(rival, "passed"));

            first.close();

            try (Hold second = next.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                assertThat(between).as("done").hasValue(null);
                assertThat(second.token()).isEqualTo(shown(rival, "passed"));
            }
        }
    }

    @Test
    void theReleaseOfAnotherLockThatLeavesWithAClaimDoesNotChangeItsToken() throws Exception {
        try (CuratorFramework curator = curator();
                KitTime time = new KitTime();
                Store store =
                        ZooKeeperStores.on(curator, ZooKeeperServers.options()).open(new StoreContext(time));
                LockClient rival = LockClient.connect(ZooKeeperServers.url(server))) {
            Hold other = rival.lock("claimed").acquire();
            Grant released = granted(Asked.of(store, claim("released")));
            CompletableFuture<Grant> claimed = new CompletableFuture<>();
            between.set(() -> {
                other.close();
                await().atMost(TIME_LIMIT)
                        .until(() -> rival.lock("claimed").status().waiting() == 0);
            });

            store.beforeSending("released", () -> {
                store.release(released);
                Asked.of(store, claim("claimed")).answer().thenAccept(grant -> claimed.complete(grant.orElseThrow()));
            });

            Grant grant = claimed.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(between).as("done").hasValue(null);
            assertThat(grant.number() * TOKENS_PER_NUMBER).isEqualTo(shown(rival, "claimed"));
        }
    }

    private static void acquireAndRelease(LockClient rival, String name) {
        await().atMost(TIME_LIMIT).until(() -> rival.lock(name).status().isHeld());
        CompletableFuture<Hold> waiting = rival.lock(name).acquireAsync();
        await().atMost(TIME_LIMIT).until(() -> rival.lock(name).status().waiting() == 1);
        waiting.cancel(true);
        await().atMost(TIME_LIMIT).until(() -> rival.lock(name).status().waiting() == 0);
    }

    /** It is granted once the write has been carried out. */
    private static void leave(LockClient rival, CompletableFuture<Hold> waiting) {
        waiting.join().close();
        await().atMost(TIME_LIMIT).until(() -> rival.lock("left").status().waiting() == 0);
    }

    private static long shown(LockClient rival, String name) {
        return rival.lock(name).status().grant().orElseThrow().token();
    }

    private CuratorFramework curator() throws InterruptedException {
        CuratorFramework curator = CuratorFrameworkFactory.builder()
                .connectString(server.connectString())
                .sessionTimeoutMs(20_000)
                .retryPolicy(new RetryOneTime(100))
                .zookeeperFactory(new Interrupting())
                .build();
        curator.start();
        curator.blockUntilConnected();
        return curator;
    }

    private final class Interrupting implements ZookeeperFactory {
        @Override
        public ZooKeeper newZooKeeper(String servers, int session, Watcher watcher, boolean readOnly)
                throws IOException {
            return new Interrupted(servers, session, watcher);
        }
    }

    /** Lists children late, behind a write of several steps. */
    private final class Interrupted extends ZooKeeper {
        private boolean several;

        Interrupted(String servers, int session, Watcher watcher) throws IOException {
            super(servers, session, watcher);
        }

        @Override
        public void multi(Iterable<Op> ops, MultiCallback callback, Object context) {
            several = ((List<Op>) ops).stream().anyMatch(op -> op.getType() != ZooDefs.OpCode.check);
            super.multi(ops, callback, context);
        }

        @Override
        public void getChildren(String path, boolean watch, Children2Callback callback, Object context) {
            Runnable task = several ? between.getAndSet(null) : null;
            several = false;
            if (task != null) {
                task.run();
            }
            super.getChildren(path, watch, callback, context);
        }
    }
}
