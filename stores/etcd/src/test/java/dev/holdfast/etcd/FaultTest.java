package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.Holder;
import dev.holdfast.LockClient;
import dev.holdfast.Loss;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.ElapsedTime;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.Started;
import dev.holdfast.testbed.TcpProxy;
import io.etcd.jetcd.Client;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Watches that are lost, leases that are revoked by hand, answers that are lost and requests that come late. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class FaultTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    /** A busy machine is in time to renew it. */
    private static final HoldOptions BRIEF = HoldOptions.defaults().lease(Duration.ofSeconds(9));

    @Started
    private static EtcdServer server;

    private static int names;

    @Test
    void aWaiterIsServedThoughTheReleaseIsCompactedWhileItIsCutOff() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                LockClient holder = client(server.port());
                LockClient waiter = client(proxy.port())) {
            Hold hold = holder.lock(name()).acquire();
            CompletableFuture<Hold> waiting = waiter.lock(hold.name()).acquireAsync();
            awaitWaiting(holder, hold.name());
            proxy.refuse();
            assertThat(proxy.cut()).isPositive();
            hold.close();
            await().atMost(LONG).until(() -> holder.lock(hold.name()).status().waiting() == 0);
            compact();

            proxy.heal();

            waiting.get(60, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void aWatchFromARevisionThatIsCompactedHasItsClaimReadAgain() throws Exception {
        server.ask("kv/put", "{\"key\":\"" + Etcd.base64("/some") + "\"}");
        compact();
        CountDownLatch changed = new CountDownLatch(1);
        try (Client client = client()) {
            Runnable end = requests(client).watchAll(Keys.bytes("/some"), 1, changed::countDown);
            assertThat(changed.await(60, TimeUnit.SECONDS)).isTrue();
            end.run();
        }
    }

    @Test
    void aHoldWhoseLeaseIsRevokedByHandIsLostAtItsNextRenewal() throws Exception {
        try (LockClient client = client(server.port());
                LockClient rival = client(server.port())) {
            Hold hold = client.lock(name(), BRIEF).acquire();
            CompletableFuture<Loss> lost = new CompletableFuture<>();
            hold.onLost(lost::complete);

            revoke(hold.name(), 0);

            Loss loss = lost.get(60, TimeUnit.SECONDS);
            assertThat(loss.token()).isEqualTo(hold.token());
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
            Hold next = rival.lock(hold.name()).acquire();
            assertThat(next.token()).isGreaterThan(hold.token());
            next.close();
        }
    }

    /** etcd's own lock service grants it the lock in that moment, though its key is gone. */
    @Test
    void aWaiterWhoseLeaseIsRevokedByHandIsNotGrantedWhatItNoLongerWaitsFor() throws Exception {
        try (LockClient one = client(server.port());
                LockClient two = client(server.port());
                LockClient three = client(server.port())) {
            Hold hold = one.lock(name()).acquire();
            CompletableFuture<Hold> second = two.lock(hold.name(), BRIEF).acquireAsync();
            awaitWaiting(one, hold.name());

            revoke(hold.name(), 1);
            hold.close();

            Hold next = second.get(60, TimeUnit.SECONDS);
            assertThat(three.lock(hold.name()).status().grant().orElseThrow().token())
                    .as("who holds by the key that is there")
                    .isEqualTo(next.token());
            assertThat(three.lock(hold.name()).tryAcquire()).isEmpty();
            next.close();
        }
    }

    @Test
    void aHoldWhoseKeyIsDeletedByHandIsLostAtItsNextRenewal() throws Exception {
        try (LockClient client = client(server.port())) {
            Hold hold = client.lock(name(), BRIEF).acquire();
            CompletableFuture<Loss> lost = new CompletableFuture<>();
            hold.onLost(lost::complete);
            server.ask(
                    "kv/deleterange",
                    "{\"key\":\"" + queue(hold.name()) + "\",\"range_end\":\"" + queueEnd(hold.name()) + "\"}");
            assertThat(lost.get(60, TimeUnit.SECONDS).token()).isEqualTo(hold.token());
            assertThat(hold.isValid()).isFalse();
        }
    }

    @Test
    void aServerThatStandsStillForLongerThanTheLeaseIsNoticedInTimeAndAWaitGoesOn() throws Exception {
        try (LockClient one = client(server.port());
                LockClient two = client(server.port())) {
            Hold hold = one.lock(name(), BRIEF).acquire();
            CompletableFuture<Hold> waiting = two.lock(hold.name(), BRIEF).acquireAsync();
            awaitWaiting(one, hold.name());
            CompletableFuture<Boolean> beside = waiting.thenApply(granted -> hold.isValid());
            server.process().stop();
            try {
                await().atMost(LONG).until(() -> !hold.isValid());
            } finally {
                server.process().cont();
            }
            assertThat(beside.get(60, TimeUnit.SECONDS)).isFalse();
            waiting.join().close();
        }
    }

    /** With an answer that is lost, nobody knows whether the claim will still be carried out. */
    @Test
    void aClaimThatIsCarriedOutAfterItsRemovalMakesNoKey() throws Exception {
        TimeSource time = new KitTime();
        Keys keys = new Keys("");
        Claim claim = new Claim(
                ClaimId.random(),
                name(),
                Mode.EXCLUSIVE,
                Duration.ofSeconds(30),
                true,
                0,
                new Holder("host", 1, "thread", "label"));
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Client cutOff = EtcdUrl.parse("etcd://127.0.0.1:" + proxy.port() + "?timeout=1s", Optional.empty())
                        .connect();
                Client other = client()) {
            long lease = requests(other).grantLease(60).join().getID();
            Requests requests = new Requests(cutOff, time, Duration.ofSeconds(1), new Errors("etcd"));
            Session session = session(requests, keys, time, lease);
            ClaimKeys claims = claimKeys(requests, keys);
            claims.queue(claim.name(), 0).join(); // connected
            proxy.toServer().hold();
            CompletableFuture<ClaimKeys.Read> entering = claims.enter(claim, session, "text", () -> true);
            await().atMost(LONG).until(entering::isCompletedExceptionally);
            proxy.toServer().resume();
            await().atMost(LONG)
                    .until(() -> claims.remove(claim)
                            .handle((done, failure) -> failure == null)
                            .join());

            Session asItWasSent = session(requests(other), keys, time, lease);
            ClaimKeys.Read late = claimKeys(requests(other), keys)
                    .enter(claim, asItWasSent, "text", () -> true)
                    .join();

            assertThat(late.queue()).isEmpty();
            assertThat(claims.enter(claim, session, "text", () -> false)).isCompletedExceptionally();
            assertThat(claims.queue(claim.name(), 0).join().queue())
                    .as("of a claim that was answered before it was sent")
                    .isEmpty();
            assertThat(session.epoch()).isPositive();
        }
    }

    private static ClaimKeys claimKeys(Requests requests, Keys keys) {
        return new ClaimKeys(requests, keys, new Releases(requests, keys));
    }

    private static Session session(Requests requests, Keys keys, TimeSource time, long lease) {
        Session.Owner owner = new Session.Owner() {
            @Override
            public boolean needs(Session session) {
                return false;
            }

            @Override
            public void ended(Session session) {}

            @Override
            public void unreachable(dev.holdfast.HoldfastException why) {}

            @Override
            public void reachable() {}
        };
        ElapsedTime elapsed = ElapsedTime.of(time);
        return new Session(requests, keys, elapsed, owner, lease, Duration.ofSeconds(60), elapsed.now());
    }

    private static Requests requests(Client client) {
        return new Requests(client, new KitTime(), Duration.ofSeconds(5), new Errors("etcd"));
    }

    private static Client client() {
        return EtcdUrl.parse("etcd://" + server.endpoint(), Optional.empty()).connect();
    }

    private static LockClient client(int port) {
        return LockClient.connect(Etcd.url("127.0.0.1:" + port));
    }

    private static String name() {
        return "fault-" + names++;
    }

    private static void awaitWaiting(LockClient client, String name) {
        await().atMost(LONG).until(() -> client.lock(name).status().waiting() == 1);
    }

    private static void compact() {
        long now = EtcdServer.field(server.ask("kv/range", "{\"key\":\"YQ==\"}"), "revision");
        server.ask("kv/compaction", "{\"revision\":" + now + ",\"physical\":true}");
    }

    /** Revokes the lease of the claim at a place in the queue of a lock. */
    private static void revoke(String name, int place) {
        String found = server.ask(
                "kv/range",
                "{\"key\":\"" + queue(name) + "\",\"range_end\":\"" + queueEnd(name)
                        + "\",\"sort_target\":\"CREATE\",\"sort_order\":\"ASCEND\"}");
        long lease = EtcdServer.field(found.split("\"kvs\"")[1].split("\\},\\{")[place], "lease");
        server.ask("lease/revoke", "{\"ID\":" + lease + "}");
    }

    private static String queue(String name) {
        return Etcd.base64("/holdfast/locks/" + name + "\0");
    }

    private static String queueEnd(String name) {
        return Etcd.base64("/holdfast/locks/" + name + "\u0001");
    }
}
