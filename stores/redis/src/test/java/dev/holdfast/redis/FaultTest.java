package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.FaultyTime;
import dev.holdfast.tck.IgnoringListener;
import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Servers that forget, stop, and are killed; connections that break; replies and messages that are lost. */
class FaultTest {
    private static final int MANY = 2_000;

    @AutoClose
    private Rig rig = new Rig();

    @Test
    void afterFlushallTheHolderLosesAndTokensRise() {
        RedisStore one = rig.open();
        Grant lost = Rig.hold(one, "a");

        rig.call("FLUSHALL");

        assertThat(Rig.renew(one, lost)).isEqualTo(Verdict.LOST);
        assertThat(Rig.release(one, lost)).isFalse();
        assertThat(Rig.hold(rig.open(), "a").number()).isGreaterThan(lost.number());
    }

    @Test
    void afterFlushallWaitersGetIn() {
        RedisStore one = rig.open();
        Rig.hold(one, "a");
        Asked waits = Rig.queue(rig.open(), "a");

        rig.call("FLUSHALL");

        assertThat(Rig.granted(waits)).isNotNull();
    }

    @Test
    void scriptsThatTheServerForgotAreSentAgain() {
        RedisStore one = rig.open();
        Grant grant = Rig.hold(one, "a");

        rig.call("SCRIPT", "FLUSH");

        assertThat(Rig.attempt(one, "a")).isEmpty();
        assertThat(Rig.renew(one, grant)).isEqualTo(Verdict.HELD);
        assertThat(Rig.release(one, grant)).isTrue();
        assertThat(Rig.get(one.status("a")).isHeld()).isFalse();
    }

    @Test
    void connectionsThatAreKilledAreMadeAgainAndHoldsSurvive() {
        RedisStore one = rig.open();
        Grant grant = Rig.hold(one, "a");
        for (int i = 0; i < 10; i++) {
            assertThat(Integer.parseInt(rig.call("CLIENT", "KILL", "TYPE", "normal")))
                    .isPositive();
            Rig.until("an answer", () -> isAnswered(one.renew(List.of(grant))));
            assertThat(Rig.renew(one, grant)).isEqualTo(Verdict.HELD);
        }
    }

    @Test
    void aWaiterWhoseSubscriptionIsKilledIsServedInItsTurn() {
        RedisStore one = rig.open();
        RedisStore two = rig.open(rig.server.uri(), Rig.NEVER);
        RedisStore three = rig.open(rig.server.uri(), Rig.NEVER);
        Grant grant = Rig.hold(one, "a");
        Asked first = Rig.queue(two, "a");
        Asked second = Rig.queue(three, "a");
        rig.awaitSubscribed(2);

        assertThat(Integer.parseInt(rig.call("CLIENT", "KILL", "TYPE", "pubsub")))
                .isEqualTo(2);
        Rig.until(
                "both to be subscribed again",
                () -> rig.call("PUBSUB", "CHANNELS", "*").contains(", "));
        Rig.release(one, grant);

        Rig.release(two, Rig.granted(first));
        Rig.granted(second);
    }

    @Test
    void aSubscriptionStaysWhenTheConnectionForScriptsAloneIsKilled() {
        RedisStore one = rig.open();
        Rig.hold(one, "a");
        RedisStore two = rig.open(rig.server.uri(), Rig.NEVER);
        Asked waits = Rig.queue(two, "a");
        rig.awaitSubscribed(1);
        String subscription = rig.call("CLIENT", "LIST", "TYPE", "pubsub").split(" ", 2)[0];

        assertThat(Integer.parseInt(rig.call("CLIENT", "KILL", "TYPE", "normal")))
                .isPositive();
        assertThat(Rig.get(two.status("a")).isHeld()).isTrue();

        assertThat(rig.call("CLIENT", "LIST", "TYPE", "pubsub")).startsWith(subscription + " ");
        assertThat(waits.answer().isDone()).isFalse();
    }

    @Test
    void aWaiterThatReceivesNothingIsPassedOverAndReturnsToItsPlace() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open();
            RedisStore cutOff = rig.open("redis://127.0.0.1:" + proxy.port(), Rig.NEVER);
            RedisStore next = rig.open();
            Grant grant = Rig.hold(one, "a");
            Asked first = Rig.queue(cutOff, "a");
            Asked second = Rig.queue(next, "a");
            Asked third = Rig.queue(next, "a");
            rig.awaitSubscribed(2);
            proxy.refuse();
            assertThat(proxy.cut()).isEqualTo(2);
            Rig.until(
                    "no subscription",
                    () -> !rig.call("PUBSUB", "CHANNELS", "*").contains(", "));

            Rig.release(one, grant);

            Grant passed = Rig.granted(second);
            proxy.accept();
            Rig.until("its place to be taken again", () -> Rig.waiting(one, "a") == 2);
            Rig.release(next, passed);
            Grant late = Rig.granted(first);
            assertThat(third.answer()).isNotDone();
            assertThat(Rig.release(cutOff, late)).isTrue();
            Rig.granted(third);
        }
    }

    @Test
    void aWaiterThatPollsWhileItsSubscriptionIsDownKeepsItsPlace() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open();
            RedisStore cutOff = rig.open("redis://127.0.0.1:" + proxy.port());
            RedisStore next = rig.open();
            Grant grant = Rig.hold(one, "a");
            Asked first = Rig.queue(cutOff, "a");
            Asked second = Rig.queue(next, "a");
            rig.awaitHearing(2, "a");
            proxy.refuse(); // its other connection stays
            rig.call("CLIENT", "KILL", "TYPE", "pubsub");
            Rig.until(
                    "the server to know",
                    () -> Rig.hearing(rig.call("ZRANGE", Rig.queue("a"), "0", "-1", "WITHSCORES")) == 1);

            Rig.release(one, grant);

            Rig.release(cutOff, Rig.granted(first));
            Rig.granted(second);
        }
    }

    /** It is connected, and does not answer: an offer is useless to it. */
    @Test
    void anOfferThatReachesNoClientExpires() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open();
            RedisStore silent = rig.open("redis://127.0.0.1:" + proxy.port(), Rig.NEVER);
            Grant grant = Rig.hold(one, "a");
            Asked first = Rig.queue(silent, "a");
            Asked second = Rig.queue(rig.open(), "a");
            proxy.toClient().hold();

            Rig.release(one, grant);

            Grant next = Rig.granted(second);
            assertThat(first.answer()).isNotDone();
            proxy.heal();
            assertThat(Rig.renew(one, next)).isEqualTo(Verdict.HELD);
        }
    }

    @Test
    void aReleaseWhoseReplyIsLostWasARelease() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open("redis://127.0.0.1:" + proxy.port());
            Grant grant = Rig.hold(one, "a");
            ReplyDrop lost =
                    proxy.dropNextReply(ChunkMatcher.containing(grant.id().value()));

            assertThat(Rig.release(one, grant)).as("sent again after the break").isTrue();

            lost.awaitBite(Rig.TIMEOUT);
            assertThat(Rig.release(one, grant)).as("another release").isFalse();
            assertThat(Rig.attempt(one, "a")).isPresent();
        }
    }

    /** The release was run, the next waiter had the lock, and then the release was sent again: nothing was lost. */
    @Test
    void aReleaseThatWasSentTwiceIsNoLossThoughAnotherHeldTheLockInBetween() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open("redis://127.0.0.1:" + proxy.port());
            Grant grant = Rig.hold(one, "a");
            Asked next = Rig.queue(rig.open(), "a");
            ReplyDrop lost =
                    proxy.dropNextReply(ChunkMatcher.containing(grant.id().value()));

            assertThat(Rig.release(one, grant)).as("sent again after the break").isTrue();

            lost.awaitBite(Rig.TIMEOUT);
            assertThat(Rig.renew(one, Rig.granted(next))).isEqualTo(Verdict.HELD);
        }
    }

    @Test
    void aBreakWhoseReplyIsLostIsNeverReportedToHaveBrokenNothing() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open("redis://127.0.0.1:" + proxy.port());
            Grant grant = Rig.hold(one, "a");
            String number = Long.toString(grant.number());
            ReplyDrop patient = proxy.dropNextReply(ChunkMatcher.containing(number));
            assertThat(Rig.get(one.breakGrant("a", grant.number(), false)))
                    .as("broken twice")
                    .isTrue();
            patient.awaitBite(Rig.TIMEOUT);

            ReplyDrop atOnce = proxy.dropNextReply(ChunkMatcher.containing(number));
            assertThatThrownBy(() -> Rig.get(one.breakGrant("a", grant.number(), true)))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("cannot tell whether 'a'");
            atOnce.awaitBite(Rig.TIMEOUT);
            assertThat(Rig.attempt(one, "a")).isPresent();
        }
    }

    @Test
    void aClaimWhoseReplyIsLostIsAskedAgainUnderItsId() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open("redis://127.0.0.1:" + proxy.port());
            Rig.hold(one, "warm-up");
            Claim claim = Rig.claim("a");
            ReplyDrop lost =
                    proxy.dropNextReply(ChunkMatcher.containing(claim.id().value()));

            Grant grant = Rig.hold(one, claim);

            lost.awaitBite(Rig.TIMEOUT);
            assertThat(Rig.renew(one, grant)).isEqualTo(Verdict.HELD);
            assertThat(Rig.attempt(rig.open(), "a")).isEmpty();
        }
    }

    @Test
    void aWithdrawnClaimThatArrivesLateGetsNothing() {
        RedisStore one = rig.open();
        Claim claim = Rig.claim("a");
        Rig.get(one.withdraw(claim));

        assertThat(Rig.get(Asked.of(one, claim).answer()))
                .as("the claim, after its withdrawal")
                .isEmpty();
        assertThat(Rig.get(one.status("a")).isHeld()).isFalse();
    }

    @Test
    void aServerThatHasStoppedIsFoundSilentAndServesAgainWhenItGoesOn() {
        RedisStore one = rig.open(rig.server.uri() + "?timeout=2s");
        Grant grant = Rig.hold(one, "a");
        rig.server.process().stop();
        Claim claim = Rig.claim("b");
        var tried = Asked.of(one, claim).answer();
        assertThatThrownBy(() -> Rig.get(tried))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining(rig.server.uri())
                .hasMessageContaining("2000 ms");

        rig.server.process().cont();

        Rig.until("an answer", () -> isAnswered(one.renew(List.of(grant))));
        assertThat(Rig.renew(one, grant)).isEqualTo(Verdict.HELD);
        Rig.until("the withdrawal", () -> isAnswered(one.withdraw(claim)));
        assertThat(Rig.attempt(one, "b")).isPresent();
    }

    @Test
    void aConnectionThatGoesNowhereIsMadeAgain() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open("redis://127.0.0.1:" + proxy.port() + "?timeout=2s");
            Grant grant = Rig.hold(one, "a");
            long before = proxy.connections().accepted();
            proxy.toServer().swallow();
            assertThatThrownBy(() -> Rig.attempt(one, "b")).isInstanceOf(StoreUnavailableException.class);
            Rig.until("a new connection", () -> proxy.connections().accepted() > before);

            proxy.heal();

            Rig.until("an answer", () -> isAnswered(one.status("a")));
            assertThat(Rig.renew(one, grant)).isEqualTo(Verdict.HELD);
        }
    }

    /** The late request was made before the connection: the connection has not been silent for that long. */
    @Test
    void aConnectionThatWasJustMadeIsNotTakenForSilent() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open("redis://127.0.0.1:" + proxy.port() + "?timeout=2s");
            Rig.hold(one, "warm-up");
            proxy.refuse();
            proxy.cut();
            Asked asked = Asked.of(one, Rig.claim("a"));
            rig.call("CLIENT", "PAUSE", "3000", "WRITE"); // scripts wait, greetings do not
            proxy.accept();
            assertThatThrownBy(() -> Rig.get(asked.answer())).isInstanceOf(StoreUnavailableException.class);
            long made = proxy.connections().accepted();

            assertThat(Rig.attempt(one, "b")).isPresent();

            assertThat(proxy.connections().accepted()).isEqualTo(made);
        }
    }

    /** Its name may lead to the new master by now: a planned switchover. */
    @Test
    void whereTheServerHasBecomeAReplicaBothConnectionsAreMadeAgainAndWaitsAndHoldsSurvive() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open("redis://127.0.0.1:" + proxy.port());
            Grant grant = Rig.hold(one, "a");
            Asked waits = Rig.queue(one, "a");
            rig.awaitSubscribed(1);
            long before = proxy.connections().accepted();

            rig.call("REPLICAOF", "127.0.0.1", String.valueOf(Ports.free()));
            assertThatThrownBy(() -> Rig.attempt(one, "b"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("replica");
            Rig.until("two new connections", () -> proxy.connections().accepted() >= before + 2);
            Awaitility.await().pollDelay(Duration.ofSeconds(3)).until(() -> true);
            assertThat(proxy.connections().accepted() - before)
                    .as("new connections in three seconds, two each time")
                    .isLessThanOrEqualTo(2 * 5);

            rig.call("REPLICAOF", "NO", "ONE");
            Rig.until("an answer", () -> isAnswered(one.renew(List.of(grant))));
            assertThat(Rig.renew(one, grant)).isEqualTo(Verdict.HELD);
            assertThat(Rig.release(one, grant)).isTrue();
            Rig.granted(waits);
        }
    }

    /** A replica that serves no stale data reports that, not that it takes no writes. */
    @Test
    void aReplicaThatHasLostItsMasterIsLeftForTheServerThatItsNameLeadsToNow() {
        rig.call("CONFIG", "SET", "replica-serve-stale-data", "no");
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open("redis://127.0.0.1:" + proxy.port());
            Grant grant = Rig.hold(one, "a");
            long before = proxy.connections().accepted();

            rig.call("REPLICAOF", "127.0.0.1", String.valueOf(Ports.free()));
            assertThatThrownBy(() -> Rig.attempt(one, "b"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("without its master");
            Rig.until("a new connection", () -> proxy.connections().accepted() > before);

            rig.call("REPLICAOF", "NO", "ONE");
            Rig.until("an answer", () -> isAnswered(one.renew(List.of(grant))));
            assertThat(Rig.renew(one, grant)).isEqualTo(Verdict.HELD);
        }
    }

    /** With too many clients, for example: other requests go on, and the store is not reported as unreachable. */
    @Test
    void whereNoSubscriptionCanBeMadeAWaiterPollsAndTheStoreIsNotCalledUnreachable() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore one = rig.open();
            RedisStore two = rig.open("redis://127.0.0.1:" + proxy.port());
            List<Throwable> unreachable = new CopyOnWriteArrayList<>();
            two.listen(new IgnoringListener() {
                @Override
                public void unreachable(String name, Throwable why) {
                    unreachable.add(why);
                }
            });
            Grant grant = Rig.hold(one, "a");
            proxy.refuse(); // the connection that is there stays
            Asked waits = Rig.queue(two, "a");
            rig.commands();
            Awaitility.await().pollDelay(Duration.ofSeconds(3)).until(() -> true);

            assertThat(rig.commands().get("evalsha"))
                    .as("in three seconds, slower each time")
                    .isBetween(2, 25);
            assertThat(unreachable).isEmpty();
            Rig.release(one, grant);
            assertThat(Rig.renew(two, Rig.granted(waits))).isEqualTo(Verdict.HELD);
        }
    }

    @Test
    void killedAndStartedAgainWithoutPersistenceItHasForgottenAndTokensRise() {
        RedisStore one = rig.open();
        Grant lost = Rig.hold(one, "a");
        Asked waits = Rig.queue(rig.open(), "a");

        rig.server.process().kill();
        rig.server.process().restart();

        Grant next = Rig.granted(waits);
        assertThat(next.number()).isGreaterThan(lost.number());
        assertThat(Rig.renew(one, lost)).isEqualTo(Verdict.LOST);
    }

    @Test
    void killedAndStartedAgainWithPersistenceItRemembers() {
        rig.close();
        rig = new Rig("--appendonly", "yes", "--appendfsync", "always");
        RedisStore one = rig.open();
        Grant grant = Rig.hold(one, "a");
        Asked waits = Rig.queue(rig.open(), "a");

        rig.server.process().kill();
        rig.server.process().restart();

        assertThat(Rig.renew(one, grant)).isEqualTo(Verdict.HELD);
        assertThat(waits.answer()).isNotDone();
        assertThat(Rig.release(one, grant)).isTrue();
        assertThat(Rig.granted(waits).number()).isGreaterThan(grant.number());
    }

    @Test
    void onAFullServerHoldsAreRenewedAndReleasedAndNewOnesRefused() {
        RedisStore one = rig.open();
        Grant grant = Rig.hold(one, "a");
        Grant permit = Rig.hold(one, Rig.claim("p", new Mode.Permits(1, 3)));
        Asked waits = Rig.queue(rig.open(), "a");
        rig.call("CONFIG", "SET", "maxmemory", "1");

        assertThatThrownBy(() -> Rig.attempt(one, "b"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("out of memory");
        assertThat(Rig.attempt(one, "a")).as("a try only reads").isEmpty();
        assertThat(Rig.renew(one, grant)).isEqualTo(Verdict.HELD);
        assertThat(Rig.renew(one, permit)).isEqualTo(Verdict.HELD);
        assertThat(Rig.release(one, permit)).isTrue();
        assertThat(Rig.release(one, grant)).isTrue();

        assertThat(Rig.granted(waits)).as("it was offered the lock").isNotNull();
        rig.call("CONFIG", "SET", "maxmemory", "0");
    }

    /** A client that wants the lock again; the claim is of a key that is there. */
    @Test
    void onAFullServerAReleaseGoesThroughThoughTheClaimInTheSameScriptIsRefused() {
        RedisStore one = rig.open();
        Grant grant = Rig.hold(one, "a");
        Asked waits = Rig.queue(rig.open(), "a");
        rig.call("CONFIG", "SET", "maxmemory", "1");

        Exchange exchange = Exchange.of(one, grant, Rig.waiting(Rig.claim("a")));

        assertThat(Rig.get(exchange.released())).isTrue();
        assertThat(Rig.granted(waits)).isNotNull();
        assertThat(exchange.claimed().toCompletableFuture())
                .as("it has to wait")
                .isNotDone();
        rig.call("CONFIG", "SET", "maxmemory", "0");
    }

    @Test
    void aQueueWithoutALockIsServedAllTheSame() {
        RedisStore one = rig.open();
        Rig.hold(one, "a");
        Asked first = Rig.queue(rig.open(rig.server.uri(), Duration.ofMillis(200)), "a");
        Asked second = Rig.queue(rig.open(rig.server.uri(), Duration.ofMillis(200)), "a");

        rig.call("DEL", "holdfast:{a}"); // evicted

        Rig.until(
                "one of them to be served",
                () -> first.answer().isDone() || second.answer().isDone());
        Optional<Grant> granted = Rig.get(first.answer().isDone() ? first.answer() : second.answer());
        assertThat(Rig.release(one, granted.orElseThrow())).isTrue();
        Rig.granted(first);
        Rig.granted(second);
    }

    private static boolean isAnswered(CompletionStage<?> request) {
        return Rig.get(request.handle((answer, failure) -> failure == null));
    }

    @Test
    void aClaimDoesNotOvertakeAReleaseThatIsSentAgainAfterAReset() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore store = rig.open("redis://127.0.0.1:" + proxy.port());
            Grant grant = Rig.hold(store, "a");
            CompletionStage<Boolean> released = releaseIntoTheWire(store, grant, proxy);
            long before = proxy.toServer().traffic().kept();
            Asked claim = Asked.of(store, Rig.claim("a"));
            Rig.until("the claim to be sent", () -> proxy.toServer().traffic().kept() > before);

            assertThat(proxy.cut()).isPositive();
            proxy.heal();

            assertThat(Rig.get(claim.answer())).isPresent();
            assertThat(Rig.get(released)).isTrue();
        }
    }

    @Test
    void norDoesOneThatIsMadeAfterTheReset() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore store = rig.open("redis://127.0.0.1:" + proxy.port());
            Grant grant = Rig.hold(store, "a");
            CompletionStage<Boolean> released = releaseIntoTheWire(store, grant, proxy);

            assertThat(proxy.cut()).isPositive();
            Asked claim = Asked.of(store, Rig.claim("a"));
            proxy.heal();

            assertThat(Rig.get(claim.answer())).isPresent();
            assertThat(Rig.get(released)).isTrue();
        }
    }

    @Test
    void norDoesAnyOfVeryMany() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore store = rig.open("redis://127.0.0.1:" + proxy.port());
            List<Grant> grants = IntStream.range(0, MANY)
                    .mapToObj(i -> Rig.hold(store, "a" + i))
                    .toList();
            proxy.toServer().hold();
            List<CompletionStage<Boolean>> released =
                    grants.stream().map(store::release).toList();
            Rig.until(
                    "the releases to be sent", () -> proxy.toServer().traffic().kept() > 0);
            List<Asked> claims = IntStream.range(0, MANY)
                    .mapToObj(i -> Asked.of(store, Rig.claim("a" + i)))
                    .toList();

            assertThat(proxy.cut()).isPositive();
            proxy.heal();

            assertThat(claims).allMatch(claim -> Rig.get(claim.answer()).isPresent());
            assertThat(released).allMatch(Rig::get);
        }
    }

    @Test
    void norDoesOneWhenTheServerHasForgottenTheScriptOfTheReleaseAlone() {
        try (TcpProxy proxy = TcpProxy.to(rig.server.port())) {
            RedisStore store = rig.open("redis://127.0.0.1:" + proxy.port());
            Grant grant = Rig.hold(store, "a");
            rig.call("SCRIPT", "FLUSH");
            Rig.hold(store, "b"); // its script is known again
            CompletionStage<Boolean> released = releaseIntoTheWire(store, grant, proxy);
            long before = proxy.toServer().traffic().kept();
            Asked claim = Asked.of(store, Rig.claim("a"));
            Rig.until("the claim to be sent", () -> proxy.toServer().traffic().kept() > before);

            proxy.heal();

            assertThat(Rig.get(claim.answer())).isPresent();
            assertThat(Rig.get(released)).isTrue();
        }
    }

    /** It stays in the proxy. */
    private static CompletionStage<Boolean> releaseIntoTheWire(RedisStore store, Grant grant, TcpProxy proxy) {
        proxy.toServer().hold();
        CompletionStage<Boolean> released = store.release(grant);
        Rig.until("the release to be sent", () -> proxy.toServer().traffic().kept() > 0);
        return released;
    }

    @Test
    void anErrorOfTheTimerLeavesNoWaitAsleep() {
        FaultyTime time = new FaultyTime();
        Rig.hold(rig.open(), "a");
        try (RedisStore store = open(time)) {
            time.failNextTask(delay -> delay.compareTo(Rig.LEASE.dividedBy(2)) > 0, new InternalError("of the test"));

            Asked waits = Asked.of(store, Rig.waiting(Rig.claim("a")));

            Rig.until("its poll to be planned in vain", time::hasFailed);
            Rig.until("the wait to end", waits.answer()::isDone);
        }
    }

    @Test
    void anErrorWhileAWaitIsCancelledEndsIt() {
        FaultyTime time = new FaultyTime();
        Rig.hold(rig.open(), "a");
        try (RedisStore store = open(time)) {
            Asked waits = Asked.of(store, Rig.waiting(Rig.claim("a")));
            rig.awaitHearing(1, "a");
            assertThat(Rig.waiting(store, "a"))
                    .as("answered after the claim was")
                    .isEqualTo(1);
            time.failNextReading(new InternalError("of the test"));

            waits.cancel();

            assertThat(time.hasFailed()).isTrue();
            Rig.until("the wait to end", waits.answer()::isDone);
        }
    }

    private RedisStore open(FaultyTime time) {
        return RedisStoreProvider.open(RedisUrl.parse(rig.server.uri(), Optional.empty()), time, Rig.NEVER);
    }
}
