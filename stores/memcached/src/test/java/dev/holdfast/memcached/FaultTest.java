package dev.holdfast.memcached;

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
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.MemcachedServer;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.Started;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Answers that are lost, requests that come late, items and bases that are gone, a server that stands still. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class FaultTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    /** A busy machine is in time to renew it. */
    private static final Duration LEASE = Duration.ofSeconds(15);

    private static final HoldOptions OPTIONS = HoldOptions.defaults().lease(LEASE);
    /** For leases whose end is awaited. */
    private static final Duration BRIEF = Duration.ofSeconds(6);

    @Started
    private static MemcachedServer server;

    private static int names;

    @BeforeAll
    static void pollOften() {
        Awaitility.setDefaultPollDelay(Duration.ZERO);
        Awaitility.setDefaultPollInterval(Duration.ofMillis(10));
    }

    @Test
    void aClaimWhoseAnswerIsLostFindsItselfByItsId() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store store = store(proxy.port())) {
            ask(store, claim(name(), 0)).orElseThrow(); // connected, and it knows the base
            ReplyDrop lost = proxy.dropNextReply(ChunkMatcher.containing("add "));
            Claim claim = claim(name(), 0);

            Grant grant = ask(store, claim).orElseThrow();

            lost.awaitBite(LONG);
            assertThat(grant.id()).isEqualTo(claim.id());
            assertThat(renewed(store, grant)).isEqualTo(Renewal.Verdict.HELD);
            assertThat(store.status(claim.name())
                            .toCompletableFuture()
                            .get(60, TimeUnit.SECONDS)
                            .grant()
                            .orElseThrow()
                            .token())
                    .isEqualTo(grant.number() * 1024);
        }
    }

    @Test
    void aRenewalWhoseAnswerIsLostIsRepeated() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store store = store(proxy.port())) {
            Grant grant = ask(store, claim(name(), 0)).orElseThrow();
            ReplyDrop lost = proxy.dropNextReply(ChunkMatcher.containing("cas "));

            assertThat(renewed(store, grant)).isEqualTo(Renewal.Verdict.HELD);

            lost.awaitBite(LONG);
        }
    }

    @Test
    void aReleaseWhoseAnswerIsLostIsRepeatedAndEndsNoHoldOfAnother() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store store = store(proxy.port());
                Store rival = store(server.port())) {
            Grant grant = ask(store, claim(name(), 0)).orElseThrow();
            ReplyDrop lost = proxy.dropNextReply(ChunkMatcher.containing("cas "));
            CompletableFuture<Boolean> released = store.release(grant).toCompletableFuture();
            lost.awaitBite(LONG);
            Grant next = ask(rival, claim(grant.name(), 0)).orElseThrow();

            assertThat(released.get(60, TimeUnit.SECONDS)).isTrue();

            assertThat(store.release(grant).toCompletableFuture().get(60, TimeUnit.SECONDS))
                    .isFalse();
            assertThat(renewed(rival, next)).isEqualTo(Renewal.Verdict.HELD);
        }
    }

    /** The bytes of the claim wait in the network while its client gives up; nobody will release what they make. */
    @Test
    void aClaimThatArrivesAfterItsWithdrawalBlocksNoLongerThanItsLease() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store late = store(proxy.port());
                Store next = store(server.port())) {
            ask(late, claim(name(), 0)).orElseThrow();
            Claim claim = claim(name(), 0, BRIEF);
            proxy.toServer().hold();
            CompletableFuture<Optional<Grant>> lost = Asked.of(late, claim).answer();
            await().atMost(LONG).until(lost::isCompletedExceptionally);
            next.withdraw(claim).toCompletableFuture().get(60, TimeUnit.SECONDS);

            proxy.toServer().resume();

            await().atMost(LONG)
                    .until(() -> next.status(claim.name())
                            .toCompletableFuture()
                            .join()
                            .isHeld());
            assertThat(secondsLeft(claim.name()))
                    .isLessThanOrEqualTo(BRIEF.plusSeconds(2).toSeconds());
            await().atMost(LONG).until(() -> ask(next, claim(claim.name(), 0)).isPresent());
        }
    }

    /** A copy of the claim is under way when its connection breaks, and arrives once the wait has ended. */
    @Test
    void aCopyThatArrivesAfterItsWaitWasCalledOffBlocksForLessThanItsLease() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store store = store(proxy.port());
                Store next = store(server.port())) {
            Grant grant = ask(next, claim(name(), 0)).orElseThrow();
            Claim tries = claim(grant.name(), 0);
            Claim waits =
                    new Claim(tries.id(), tries.name(), tries.mode(), BRIEF.multipliedBy(2), true, 0, tries.holder());
            ReplyDrop lost = proxy.dropNextReply(ChunkMatcher.containing("add "));
            Asked asked = Asked.of(store, waits);
            lost.awaitBite(LONG);
            asked.cancel();
            assertThat(asked.answer().get(60, TimeUnit.SECONDS)).isEmpty();
            next.release(grant).toCompletableFuture().get(60, TimeUnit.SECONDS);

            assertThat(ask(next, waits)).as("the copy").isPresent();

            await().atMost(waits.lease().minusSeconds(1))
                    .until(() -> ask(next, claim(grant.name(), 0)).isPresent());
        }
    }

    /** The claim is called off while it is under way: that it is refused says that nothing is left of it. */
    @Test
    void aClaimThatIsWithdrawnIsAnsweredWhenItHasLeftTheServer() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store store = store(proxy.port())) {
            Claim claim = claim(name(), 0);
            ask(store, claim).orElseThrow();
            proxy.toServer().hold();
            CompletableFuture<Optional<Grant>> repeated = Asked.of(store, claim).answer();
            CompletableFuture<Void> withdrawn = store.withdraw(claim).toCompletableFuture();
            boolean early = repeated.isDone();

            proxy.toServer().resume();

            withdrawn.get(60, TimeUnit.SECONDS);
            assertThat(early).as("answered before the server was asked").isFalse();
            assertThat(repeated).isCompleted();
            assertThat(server.ask("get " + StoredLock.key(claim.name()))).hasSize(1);
        }
    }

    /** A late claim under the id of a hold that was lost meanwhile must not pass for that hold. */
    @Test
    void aGrantIsNotRenewedByAnItemThatTheSameClaimMadeLater() throws Exception {
        try (Store store = store(server.port())) {
            Claim claim = claim(name(), 0);
            Grant first = ask(store, claim).orElseThrow();
            server.ask("delete " + StoredLock.key(claim.name()));
            Grant later = ask(store, claim).orElseThrow();

            assertThat(later.number()).isGreaterThan(first.number());
            assertThat(renewed(store, first)).isEqualTo(Renewal.Verdict.LOST);
            assertThat(renewed(store, later)).isEqualTo(Renewal.Verdict.HELD);
        }
    }

    /** Each write would begin its lease again. */
    @Test
    void aLockThatIsBrokenAgainStaysNoLonger() throws Exception {
        try (Store store = store(server.port())) {
            Grant grant = ask(store, claim(name(), 0)).orElseThrow();
            assertThat(store.breakGrant(grant.name(), grant.number(), false)
                            .toCompletableFuture()
                            .get(60, TimeUnit.SECONDS))
                    .isTrue();
            List<String> broken = server.ask("gets " + StoredLock.key(grant.name()));

            assertThat(store.breakGrant(grant.name(), grant.number(), false)
                            .toCompletableFuture()
                            .get(60, TimeUnit.SECONDS))
                    .isTrue();

            assertThat(server.ask("gets " + StoredLock.key(grant.name()))).isEqualTo(broken);
            assertThat(store.breakGrant(grant.name(), grant.number(), true)
                            .toCompletableFuture()
                            .get(60, TimeUnit.SECONDS))
                    .isTrue();
            assertThat(ask(store, claim(grant.name(), 0))).isPresent();
        }
    }

    @Test
    void aHolderHearsOfFlushedLocksAtItsNextRenewalAndTheNextTokenIsHigher() throws Exception {
        heardOf(server, name -> server.ask("flush_all"));
    }

    @Test
    void aHolderHearsOfARestartAtItsNextRenewalAndTheNextTokenIsHigher() throws Exception {
        heardOf(server, name -> server.process().restart());
    }

    @Test
    void aHolderHearsThatItsItemWasEvictedAtItsNextRenewalAndTheNextTokenIsHigher() throws Exception {
        try (MemcachedServer small = OrSkip.orSkip(() -> MemcachedServer.start("-m", "1", "-I", "512k"))) {
            heardOf(small, name -> evict(small, name));
            assertThat(small.stat("evictions")).as("the fault bit").isPositive();
        }
    }

    private static void heardOf(MemcachedServer where, Consumer<String> fault) throws Exception {
        try (LockClient client = client(where.port());
                LockClient rival = client(where.port())) {
            Hold hold = client.lock(name(), OPTIONS).acquire();
            CompletableFuture<Loss> lost = new CompletableFuture<>();
            hold.onLost(lost::complete);

            fault.accept(hold.name());
            await().atMost(LONG).until(() -> !rival.lock(hold.name()).status().isHeld());

            Loss loss = lost.get(60, TimeUnit.SECONDS);
            assertThat(loss.token()).isEqualTo(hold.token());
            assertThat(loss.cause()).isEqualTo(Loss.Cause.GONE_FROM_STORE);
            assertThat(hold.isValid()).isFalse();
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
            try (Hold next = rival.lock(hold.name(), OPTIONS).acquire()) {
                assertThat(next.token()).isGreaterThan(hold.token());
            }
        }
    }

    /** Other values as large as a lock, until it has to give way to them. */
    static void evict(MemcachedServer server, String name) {
        int[] written = {0};
        await().atMost(LONG).until(() -> {
            for (int size = 120; size < 400; size += 40) {
                int from = written[0] += 4_000;
                server.setAll(IntStream.range(from, from + 4_000).mapToObj(i -> "other" + i), size);
            }
            return server.ask("me " + StoredLock.key(name)).contains("EN"); // which is no use of it, as get is
        });
    }

    @Test
    void aNumberIsAboveTheFloorAndTheNextAboveThat() throws Exception {
        try (Store store = store(server.port());
                Store other = store(server.port())) {
            long floor = ask(store, claim(name(), 0)).orElseThrow().number() + 1_000_000;
            Grant above = ask(store, claim(name(), floor)).orElseThrow();
            assertThat(above.number()).isGreaterThan(floor);
            assertThat(ask(other, claim(name(), 0)).orElseThrow().number()).isGreaterThan(above.number());
        }
    }

    /** Each raise of the base is one of all tokens, and lasts until the clock has caught up. */
    @Test
    void claimsThatRaiseTheBaseAtOnceRaiseItOnce() throws Exception {
        try (MemcachedServer own = OrSkip.orSkip(MemcachedServer::start);
                Store store = store(own.port())) {
            long floor = ask(store, claim(name(), 0)).orElseThrow().number() + 10_000_000;

            List<CompletableFuture<Optional<Grant>>> grants = IntStream.range(0, 200)
                    .mapToObj(i -> Asked.of(store, claim(name(), floor)).answer())
                    .toList();

            for (CompletableFuture<Optional<Grant>> each : grants) {
                assertThat(each.get(60, TimeUnit.SECONDS).orElseThrow().number())
                        .isGreaterThan(floor)
                        .isLessThan(floor + 10_000);
            }
        }
    }

    @Test
    void aBaseThatIsGoneIsMadeAgainAndNumbersGoOn() throws Exception {
        try (Store store = store(server.port())) {
            Grant before = ask(store, claim(name(), 0)).orElseThrow();
            server.ask("delete " + Commands.Place.BASE);
            Grant after = ask(store, claim(name(), 0)).orElseThrow();
            assertThat(after.number()).isGreaterThan(before.number());
            assertThat(renewed(store, before)).isEqualTo(Renewal.Verdict.HELD);
            assertThat(renewed(store, after)).isEqualTo(Renewal.Verdict.HELD);
        }
    }

    /** After a restart its writes are counted from 1: the base has to be above all numbers of before. */
    @Test
    void aServerOfManyWritesGivesHigherNumbersAfterItsRestartToAClientThatHasSeenNone() throws Exception {
        try (MemcachedServer busy = OrSkip.orSkip(MemcachedServer::start)) {
            for (int i = 0; i < 20; i++) {
                busy.setAll(IntStream.range(0, 200_000).mapToObj(n -> "other"), 1);
            }
            Grant before;
            try (Store store = store(busy.port())) {
                before = ask(store, claim(name(), 0)).orElseThrow();
            }
            busy.process().restart();
            try (Store store = store(busy.port())) {
                assertThat(ask(store, claim(before.name(), 0)).orElseThrow().number())
                        .isGreaterThan(before.number());
            }
        }
    }

    @Test
    void aServerThatStandsStillForLongerThanTheLeaseIsNoticedInTimeAndAWaitGoesOn() throws Exception {
        try (LockClient one = client(server.port());
                LockClient two = client(server.port())) {
            HoldOptions brief = HoldOptions.defaults().lease(BRIEF);
            Hold hold = one.lock(name(), brief).acquire();
            CompletableFuture<Hold> waiting = two.lock(hold.name(), brief).acquireAsync();
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

    /** As a firewall leaves it that has forgotten an idle one: nothing comes back, and nothing says so. */
    @Test
    void aConnectionOnWhichNothingComesBackIsReplaced() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                LockClient client = LockClient.connect("memcached://127.0.0.1:" + proxy.port() + "?timeout=1s")) {
            client.lock(name()).acquire().close();
            await().atMost(LONG).until(() -> proxy.connections().open() == 1); // that of the greeting is gone
            proxy.clog(0).orElseThrow();

            Optional<Hold> hold = client.lock(name()).tryAcquire(Duration.ofSeconds(20));

            assertThat(hold).isPresent();
            hold.orElseThrow().close();
        }
    }

    @Test
    void eachNameIsOnOneOfSeveralServersAndThoseOfOneThatIsAwayAreNotFreeElsewhere() throws Exception {
        try (MemcachedServer second = OrSkip.orSkip(MemcachedServer::start);
                LockClient client = LockClient.connect(
                        "memcached://" + server.endpoint() + "," + second.endpoint() + "?timeout=1s")) {
            String here = nameOn(server, second);
            String there = nameOn(second, server);
            second.process().kill();
            assertThatThrownBy(() -> client.lock(there).tryAcquire())
                    .isInstanceOf(dev.holdfast.StoreUnavailableException.class)
                    .hasMessageContaining(there);
            client.lock(here).acquire().close();
            assertThatThrownBy(() -> client.list("*"))
                    .isInstanceOf(dev.holdfast.StoreUnavailableException.class)
                    .hasMessageContaining("at /127.0.0.1:" + second.port());
        }
    }

    /** A name that a client of both keeps on the first; both are started. */
    private static String nameOn(MemcachedServer wanted, MemcachedServer other) throws InterruptedException {
        String url = "memcached://" + server.endpoint() + "," + (wanted == server ? other : wanted).endpoint();
        try (LockClient client = LockClient.connect(url)) {
            while (true) {
                String name = name();
                try (Hold hold = client.lock(name).acquire()) {
                    boolean found = wanted.ask("get " + StoredLock.key(name)).size() > 1;
                    if (found && hold.isValid()) {
                        return name;
                    }
                }
            }
        }
    }

    /** How long the server will keep the item of a lock: it reports when the item ends as before now. */
    private static long secondsLeft(String name) {
        String item = server.ask("me " + StoredLock.key(name)).get(0);
        return Long.parseLong(item.replaceFirst(".* exp=-(\\d+) .*", "$1"));
    }

    private static Store store(int port) {
        return new MemcachedStoreProvider()
                .open("memcached://127.0.0.1:" + port + "?timeout=3s", new StoreContext(new KitTime()));
    }

    private static LockClient client(int port) {
        return LockClient.connect("memcached://127.0.0.1:" + port + "?timeout=4s");
    }

    private static Optional<Grant> ask(Store store, Claim claim) {
        return Asked.of(store, claim).answer().join();
    }

    private static Renewal.Verdict renewed(Store store, Grant grant) throws Exception {
        return store.renew(List.of(grant))
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS)
                .get(grant.id())
                .verdict();
    }

    private static Claim claim(String name, long floor) {
        return claim(name, floor, LEASE);
    }

    private static Claim claim(String name, long floor, Duration lease) {
        return new Claim(
                ClaimId.random(), name, Mode.EXCLUSIVE, lease, false, floor, new Holder("host", 1, "thread", ""));
    }

    private static String name() {
        return "fault-" + names++;
    }
}
