package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.Started;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers that cannot be reached for longer than the claims under way can be repeated a few times. */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class OutageTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofMinutes(2);

    @Started
    private static EtcdServer server;

    /** Its session is sure for a minute, so the claim itself is sent again and again. */
    @Test
    @Tag("thorough") // a wait that was there before is a case of the contract
    void aWaitThatBeginsInAnOutageIsServedAfterIt() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store store = RawStore.open(proxy.port())) {
            RawStore.answer(store.release(RawStore.hold(store, "before", LEASE)));
            proxy.refuse();
            proxy.cut();
            Asked waiting = Asked.of(store, RawStore.claim("meanwhile", LEASE, true));
            await().during(Duration.ofSeconds(15))
                    .atMost(LONG)
                    .until(() -> !waiting.answer().isDone());

            proxy.heal();

            assertThat(RawStore.answer(waiting.answer())).isPresent();
        }
    }

    /** Each makes void what it sent before, and the transactions of the others expect that nobody did. */
    @Test
    void hundredsOfClaimsWhoseRequestsAreLostAreServedWhenTheServersAnswerAgain() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store store = RawStore.open(proxy.port())) {
            RawStore.answer(store.release(RawStore.hold(store, "before", LEASE)));
            proxy.toServer().hold();
            List<Asked> waiting = new ArrayList<>();
            for (int i = 0; i < 600; i++) {
                waiting.add(Asked.of(store, RawStore.claim("unanswered-" + i, LEASE, true)));
            }
            proxy.toServer().awaitBite(LONG);
            proxy.refuse();
            proxy.cut();
            await().pollDelay(Duration.ofMillis(2_500)).until(() -> true); // each now pauses for most of a second

            proxy.heal();

            for (Asked each : waiting) {
                assertThat(RawStore.answer(each.answer())).isPresent();
            }
        }
    }

    /** The engine repeats a withdrawal for a minute at most; here it asks once. The session lives on with another grant. */
    @Test
    void whatAClaimLeftIsRemovedAfterAnOutageThoughNobodyAsksAgain() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store other = RawStore.open(server.port());
                Store store = RawStore.open(proxy.port())) {
            Grant held = RawStore.hold(other, "left", LEASE);
            Claim claim = RawStore.claim("left", LEASE, true);
            Asked waiting = Asked.of(store, claim);
            await().atMost(LONG)
                    .until(() -> RawStore.answer(other.status("left")).waiting() == 1);
            proxy.refuse();
            proxy.cut();
            waiting.cancel();
            assertFails(waiting.answer());
            assertFails(store.withdraw(claim));

            proxy.heal();

            await().atMost(LONG)
                    .until(() -> RawStore.answer(other.status("left")).waiting() == 0);
            assertThat(RawStore.answer(other.release(held))).isTrue();
        }
    }

    @Test
    void aGrantWhoseReleaseGotNoAnswerIsNotCalledWithdrawnWhileItIsThere() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store other = RawStore.open(server.port());
                Store store = RawStore.open(proxy.port())) {
            Claim claim = RawStore.claim("released", LEASE, false);
            Grant grant = RawStore.answer(Asked.of(store, claim).answer()).orElseThrow();
            proxy.refuse();
            proxy.cut();
            assertFails(store.release(grant));

            assertFails(store.withdraw(claim));

            proxy.heal();
            await().atMost(LONG)
                    .until(() -> store.withdraw(claim)
                            .handle((done, failure) -> failure == null)
                            .toCompletableFuture()
                            .join());
            assertThat(RawStore.answer(other.status("released")).isHeld()).isFalse();
        }
    }

    /** What is never sent need not be withdrawn. */
    @Test
    void aTryThatFailsInAnOutageLeavesNothingToRepeat() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Store store = RawStore.open(proxy.port())) {
            RawStore.answer(store.release(RawStore.hold(store, "before", LEASE)));
            proxy.refuse();
            proxy.cut();
            Claim claim = RawStore.claim("tried", LEASE, false);
            assertFails(Asked.of(store, claim).answer());
            assertThat(store.withdraw(claim)).succeedsWithin(LONG);
        }
    }

    private static void assertFails(CompletionStage<?> answer) {
        assertThat(answer.handle((done, failure) -> failure != null))
                .succeedsWithin(LONG)
                .isEqualTo(true);
    }
}
