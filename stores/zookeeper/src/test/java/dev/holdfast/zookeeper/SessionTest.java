package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.support.ElapsedTime;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.TcpProxy;
import dev.holdfast.testbed.ZooKeeperServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A hold is good for as long as its session is proved to live, and no longer. */
class SessionTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(60);

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    @Test
    void aKilledSessionLosesTheHoldAndReEntryIsRefused() throws Exception {
        Queue<Loss> losses = new ConcurrentLinkedQueue<>();
        try (CuratorFramework curator = curator();
                LockClient client = LockClient.builder(ZooKeeperStores.on(curator, options()))
                        .build()) {
            Lock owned = client.lock("owned").asLock();
            owned.lock();
            Hold hold = client.lock("killed").acquire();
            hold.onLost(losses::add);

            kill(curator);

            await().atMost(TIME_LIMIT).until(() -> !losses.isEmpty());
            assertThat(hold.isValid()).isFalse();
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
            await().atMost(TIME_LIMIT)
                    .pollInSameThread()
                    .untilAsserted(() -> assertThatThrownBy(owned::lock).isInstanceOf(HoldLostException.class));
            try (Hold again = client.lock("killed").acquire()) {
                assertThat(again.token()).isGreaterThan(hold.token());
            }
        }
    }

    /**
     * As Curator does by itself after a session's time-out without a connection: the servers may have received its last
     * message later.
     */
    @Test
    void theLockOfASessionThatItsClientGaveUpIsFreeLongBeforeTheServersEndTheSession() throws Exception {
        try (CuratorFramework curator =
                CuratorFrameworkFactory.newClient(server.connectString(), 60_000, 15_000, new RetryForever(100))) {
            curator.start();
            curator.blockUntilConnected();
            try (LockClient client = LockClient.builder(ZooKeeperStores.on(curator, options()))
                            .build();
                    LockClient rival = LockClient.connect(ZooKeeperServers.url(server))) {
                Hold hold = client.lock("given-up").acquire();

                curator.getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();

                try (Hold next = rival.lock("given-up")
                        .tryAcquire(Duration.ofSeconds(20))
                        .orElseThrow()) {
                    assertThat(next.token()).isGreaterThan(hold.token());
                }
                // not before the rival holds: on an event that was made up the library may close the session, which is
                // still open, before it reports that. A real end of a session comes after a broken connection.
                await().atMost(TIME_LIMIT).until(() -> !hold.isValid());
                assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
            }
        }
    }

    @Test
    void aLockReleasedInAnOutageIsFreeThoughItsSessionWasGivenUpMeanwhile() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                CuratorFramework curator = CuratorFrameworkFactory.newClient(
                        "127.0.0.1:" + proxy.port(), 60_000, 15_000, new RetryForever(100))) {
            curator.start();
            curator.blockUntilConnected();
            try (LockClient client = LockClient.builder(ZooKeeperStores.on(curator, options()))
                            .build();
                    LockClient rival = LockClient.connect(ZooKeeperServers.url(server))) {
                Hold hold = client.lock("outage", HoldOptions.defaults().awaitRelease(false))
                        .acquire();
                proxy.refuse();
                proxy.cut();
                await().atMost(TIME_LIMIT).until(() -> !hold.isValid());

                hold.close();
                curator.getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
                proxy.accept();

                assertThat(rival.lock("outage").tryAcquire(Duration.ofSeconds(20)))
                        .isPresent();
            }
        }
    }

    @Test
    void aSilentPartitionEndsTheHoldBeforeARivalHasIt() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                LockClient client = LockClient.connect(url(proxy.port(), ""));
                LockClient rival = LockClient.connect(ZooKeeperServers.url(server))) {
            Hold hold = client.lock("silent").acquire();
            CompletableFuture<Hold> next = rival.lock("silent").acquireAsync();
            awaitWaiting(rival, "silent");

            proxy.toServer().hold();
            proxy.toClient().hold();

            boolean overlapped =
                    next.thenApply(granted -> hold.isValid()).get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(overlapped).isFalse();
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
            next.join().close();
        }
    }

    @Test
    void aBrokenConnectionPutsTheHoldInDoubtAndTheServersAnswerConfirmsIt() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                LockClient client = LockClient.connect(url(proxy.port(), ""))) {
            Hold hold = client.lock("doubt").acquire();

            proxy.refuse();
            proxy.cut();
            await().atMost(TIME_LIMIT).until(() -> !hold.isValid());
            proxy.accept();

            await().atMost(TIME_LIMIT).until(hold::isValid);
            hold.close();
        }
    }

    @Test
    void aHoldThatRidesOutADisconnectStaysValidMeanwhile() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                LockClient client = LockClient.connect(url(proxy.port(), "&disconnect=ride"))) {
            Hold hold = client.lock("ride").acquire();

            proxy.refuse();
            proxy.cut();
            await().during(Duration.ofMillis(500)).atMost(TIME_LIMIT).until(hold::isValid);
            proxy.accept();

            long end = endOf(hold);
            await("another proof of the session").atMost(TIME_LIMIT).until(() -> {
                assertThat(hold.isValid()).isTrue();
                return endOf(hold) - end > TimeUnit.SECONDS.toNanos(1);
            });
            hold.close();
        }
    }

    @Test
    void aClaimWhoseReplyWasDroppedFindsItsNodeAndNothingIsLeft() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                LockClient client = LockClient.connect(url(proxy.port(), ""));
                LockClient witness = LockClient.connect(ZooKeeperServers.url(server))) {
            client.lock("dropped", HoldOptions.defaults().awaitRelease(true))
                    .acquire()
                    .close();
            ReplyDrop drop = proxy.dropNextReply(ChunkMatcher.containing("/dropped/x-"));

            Hold hold = client.lock("dropped").acquire();

            drop.awaitBite(TIME_LIMIT);
            assertThat(witness.lock("dropped").status().waiting())
                    .as("a second node of the same claim")
                    .isZero();
            hold.close();
            await().atMost(TIME_LIMIT)
                    .until(() -> !witness.lock("dropped").status().isHeld());
        }
    }

    @Test
    void aReleaseLostWithItsConnectionIsMadeUpFor() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                LockClient client = LockClient.connect(url(proxy.port(), ""));
                LockClient rival = LockClient.connect(ZooKeeperServers.url(server))) {
            Hold hold = client.lock("released", HoldOptions.defaults().awaitRelease(false))
                    .acquire();
            CompletableFuture<Hold> next = rival.lock("released").acquireAsync();
            awaitWaiting(rival, "released");

            proxy.toServer().swallow();
            hold.close();
            proxy.cut();
            proxy.heal();

            next.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS).close();
        }
    }

    @Test
    @Tag("thorough")
    void aServerThatRestartsKeepsTheHoldAndTheLine() throws Exception {
        try (ZooKeeperServer own = ZooKeeperServers.quick();
                LockClient client = LockClient.connect(ZooKeeperServers.url(own, "60s"));
                LockClient second = LockClient.connect(ZooKeeperServers.url(own, "60s"))) {
            Hold hold = client.lock("restart").acquire();
            CompletableFuture<Hold> next = second.lock("restart").acquireAsync();
            awaitWaiting(client, "restart");

            own.process().kill();
            own.process().restart();

            await().atMost(TIME_LIMIT).until(hold::isValid);
            assertThat(next).isNotDone();
            hold.close();
            Hold granted = next.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(granted.token()).isGreaterThan(hold.token());
            granted.close();
        }
    }

    /** The client keeps its session, and the servers end it sooner than they had promised. */
    @Test
    @Tag("thorough")
    void aHoldEndsBeforeARivalHasItAlsoWhenServersStartAgainWithShorterSessions() throws Exception {
        try (ZooKeeperServer own = ZooKeeperServers.quick();
                TcpProxy proxy = TcpProxy.to(own.port());
                LockClient client = LockClient.connect(
                        ZooKeeperServers.url("127.0.0.1:" + proxy.port(), "30s") + "&disconnect=ride");
                LockClient rival = LockClient.connect(ZooKeeperServers.url(own, "30s"))) {
            Hold hold = client.lock("shorter").acquire();
            CompletableFuture<Hold> next = rival.lock("shorter").acquireAsync();
            awaitWaiting(rival, "shorter");

            own.process().kill();
            Path settings = own.process().home().folder().resolve("zoo.cfg");
            Files.writeString(
                    settings, Files.readString(settings).replace("maxSessionTimeout=60000", "maxSessionTimeout=4000"));
            own.process().restart();
            await().atMost(TIME_LIMIT).until(() -> answers(client));
            proxy.toServer().hold();
            proxy.toClient().hold();

            boolean overlapped =
                    next.thenApply(granted -> hold.isValid()).get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(overlapped).isFalse();
            next.join().close();
        }
    }

    @Test
    void aWatchOnANodeThatIsGoneLeavesNothingOnTheServer() throws Exception {
        try (CuratorFramework curator = curator();
                KitTime time = new KitTime()) {
            ZooKeeper own = curator.getZookeeperClient().getZooKeeper();
            ElapsedTime elapsed = ElapsedTime.of(time);
            Session session = new Session(own, elapsed, Duration.ofMillis(300), elapsed.now());
            curator.usingNamespace(null).create().forPath("/watched");

            Code there = session.watch("/watched", event -> {}).join().code();
            Code gone = session.watch("/watched-and-gone", event -> {}).join().code();

            assertThat(there).isEqualTo(Code.OK);
            assertThat(gone).isEqualTo(Code.NONODE);
            assertThat(server.command("wchp")).contains("/watched").doesNotContain("/watched-and-gone");
        }
    }

    /** The client library sleeps for a tenth of a second when it closes a session that has ended already. */
    @Test
    void aClientIsClosedAsSoonAsItsSessionHasEnded() throws Exception {
        Duration shortest = Duration.ofDays(1);
        Duration asleep = Duration.ofMillis(100);
        for (int i = 0; i < 100 && shortest.compareTo(asleep) >= 0; i++) { // on a busy machine few are that quick
            LockClient client = LockClient.connect(ZooKeeperServers.url(server));
            client.lock("closed").acquire();

            long asked = System.nanoTime();
            client.close();
            Duration took = Duration.ofNanos(System.nanoTime() - asked);

            shortest = took.compareTo(shortest) < 0 ? took : shortest;
        }
        assertThat(shortest).isLessThan(asleep);
    }

    private static boolean answers(LockClient client) {
        try {
            return client.lock("any").status().waiting() == 0;
        } catch (StoreUnavailableException notYet) {
            return false;
        }
    }

    private static void awaitWaiting(LockClient client, String name) {
        await().atMost(TIME_LIMIT)
                .ignoreException(StoreUnavailableException.class)
                .until(() -> client.lock(name).status().waiting() == 1);
    }

    /** Another handle on the same session, closed: the server ends the session at once. */
    private static void kill(CuratorFramework curator) throws Exception {
        ZooKeeper own = curator.getZookeeperClient().getZooKeeper();
        CompletableFuture<Void> connected = new CompletableFuture<>();
        try (ZooKeeper same = new ZooKeeper(
                server.connectString(),
                4_000,
                event -> connected.complete(null),
                own.getSessionId(),
                own.getSessionPasswd())) {
            connected.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    private static CuratorFramework curator() throws InterruptedException {
        CuratorFramework curator = CuratorFrameworkFactory.builder()
                .connectString(server.connectString())
                .sessionTimeoutMs(4_000)
                .connectionTimeoutMs(2_000)
                .retryPolicy(new RetryForever(100))
                .namespace("app/locks")
                .build();
        curator.start();
        curator.blockUntilConnected();
        return curator;
    }

    private static ZooKeeperOptions options() {
        return ZooKeeperOptions.defaults().tick(Duration.ofMillis(300));
    }

    /** When a hold ends if nothing more proves its session. */
    private static long endOf(Hold hold) {
        return System.nanoTime() + hold.remaining().toNanos();
    }

    /**
     * A session that outlasts a broken connection on a busy machine, too: the client library waits for up to a second before
     * it connects.
     */
    private static String url(int port, String more) {
        return ZooKeeperServers.url("127.0.0.1:" + port, "10s") + more;
    }
}
