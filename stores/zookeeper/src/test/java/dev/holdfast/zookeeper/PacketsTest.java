package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.Holder;
import dev.holdfast.LockClient;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The cost of a turn, by the server's own count. */
@Tag("thorough")
class PacketsTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(60);
    private static final int LONG_SESSION = 60_000;

    /** The ping that keeps the session, and the request for the count. */
    private static final int MORE = 6;

    private static final HoldOptions AWAITED = HoldOptions.defaults().awaitRelease(true);

    private static ZooKeeperServer server;
    private static CuratorFramework curator;

    @BeforeAll
    static void startServer() {
        server = ZooKeeperServers.withoutSweeper();
        curator = CuratorFrameworkFactory.newClient(
                server.connectString(), LONG_SESSION, LONG_SESSION, new RetryOneTime(100));
        curator.start();
    }

    @AfterAll
    static void stopServer() {
        curator.close();
        server.close();
    }

    /**
     * The node and the list, a read of the one before, the notification, a read of its own node and of the others, the
     * removal.
     */
    @ParameterizedTest
    @ValueSource(ints = {2, 200})
    void aTurnThatIsHandedOverBetweenClientsCostsThirteenPacketsAtMostHoweverManyWait(int waiting) throws Exception {
        List<LockClient> clients = new ArrayList<>();
        try (LockClient first = open()) {
            Hold held = first.lock("line-" + waiting).acquire();
            for (int i = 0; i < waiting; i++) {
                clients.add(open());
            }
            lockOnce(clients);
            long before = packets();
            long begun = System.nanoTime();
            List<CompletableFuture<Void>> turns = new ArrayList<>();
            for (LockClient client : clients) {
                turns.add(client.lock("line-" + waiting, AWAITED).acquireAsync().thenAcceptAsync(Hold::close));
            }
            held.close();
            CompletableFuture.allOf(turns.toArray(CompletableFuture<?>[]::new))
                    .get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);

            long removalOfTheFirst = 2;
            long shortestPoll = PendingClaims.POLL.toNanos() * 3 / 4;
            long polls = (System.nanoTime() - begun) / shortestPoll * waiting; // none, unless the machine is slow
            assertThat(packets() - before - removalOfTheFirst)
                    .isBetween(11L * waiting, 13L * waiting + MORE + 4 * polls);
        } finally {
            clients.forEach(LockClient::close);
        }
    }

    /** The first lock on a connection whose beginning is not known waits for a second proof of the session. */
    private static void lockOnce(List<LockClient> clients) throws Exception {
        List<CompletableFuture<Void>> turns = new ArrayList<>();
        for (int i = 0; i < clients.size(); i++) {
            turns.add(clients.get(i).lock("once-" + i, AWAITED).acquireAsync().thenAcceptAsync(Hold::close));
        }
        CompletableFuture.allOf(turns.toArray(CompletableFuture<?>[]::new))
                .get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void aFreeLockCostsTheNodeTheListAndTheRemoval() throws InterruptedException {
        try (LockClient client = open()) {
            client.lock("free", AWAITED).acquire().close();
            long before = packets();
            for (int i = 0; i < 100; i++) {
                client.lock("free", AWAITED).acquire().close();
            }
            assertThat(packets() - before).isBetween(600L, 600L + MORE);
        }
    }

    /**
     * A grant whose release is deferred is given to the same client 64 times; then its node is replaced by the next
     * one.
     */
    @Test
    void aReleaseAndTheClaimBehindItLeaveAsOne() throws InterruptedException {
        HoldOptions alone = HoldOptions.defaults().handOver(0, Duration.ZERO);
        try (LockClient client = open()) {
            CompletableFuture<Hold> next = null;
            Hold held = client.lock("exchanged", alone).acquire();
            long before = packets();
            for (int i = 0; i < 100; i++) {
                next = client.lock("exchanged", alone).acquireAsync();
                held.close();
                held = next.orTimeout(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS).join();
            }
            assertThat(packets() - before).isBetween(400L, 400L + MORE);
            held.close();
        }
    }

    @Test
    void permitsOfOneClientThatNobodyElseWantsAreRenewedByOneWrite() throws Exception {
        int permits = WatchedQueues.LONGEST;
        KitTime time = new KitTime();
        Store store = new ZooKeeperStoreProvider().open(ZooKeeperServers.url(server, "20s"), new StoreContext(time));
        List<Grant> grants = new ArrayList<>();
        for (int i = 0; i < permits; i++) {
            grants.add(granted(store, new Mode.Permits(1, permits)));
        }
        assertHeld(store, grants); // each node is watched from now on, and their queue

        long before = packets();
        assertHeld(store, grants);

        assertThat(packets() - before).isBetween(2L, 2L + MORE);
        store.close();
        time.close();
    }

    private static Grant granted(Store store, Mode mode) throws Exception {
        Holder holder = new Holder("host", 1, "thread", "");
        Claim claim = new Claim(ClaimId.random(), "permits", mode, Duration.ofSeconds(20), false, 0, holder);
        return Asked.of(store, claim)
                .answer()
                .toCompletableFuture()
                .get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS)
                .orElseThrow();
    }

    private static void assertHeld(Store store, List<Grant> grants) throws Exception {
        assertThat(store.renew(grants)
                        .toCompletableFuture()
                        .get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS)
                        .values())
                .hasSize(grants.size())
                .allMatch(renewal -> renewal.verdict() == Verdict.HELD && !renewal.contended());
    }

    private static LockClient open() {
        return LockClient.builder(
                        ZooKeeperStores.on(curator, ZooKeeperOptions.defaults().tick(Duration.ofMillis(300))))
                .build();
    }

    private static long packets() {
        String figures = server.command("mntr");
        return ZooKeeperServers.figure(figures, "zk_packets_received")
                + ZooKeeperServers.figure(figures, "zk_packets_sent");
    }
}
