package dev.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.etcd.HeldClaims.Held;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.FaultyTime;
import dev.holdfast.tck.IgnoringListener;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.EtcdServer;
import dev.holdfast.testbed.Started;
import io.etcd.jetcd.Client;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Errors from what surrounds the store: a listener that throws, a timer, a clock. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class BrokenSurroundingsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofSeconds(30);
    /** Different from every request's limit, so that the test can tell the removal's task by its delay. */
    private static final Duration BRIEF = Duration.ofSeconds(3);
    /** Longer than all else that is scheduled with such leases. */
    private static final Duration LEAST_POLL = Duration.ofSeconds(11);

    @Started
    private static EtcdServer server;

    @Test
    void anErrorOfAListenerThatHearsOfALossLeavesNoRenewalAndNoWaitWithoutAnAnswer() {
        try (Store holder = RawStore.open(server.port(), new KitTime());
                Store other = RawStore.open(server.port())) {
            holder.listen(new IgnoringListener() {
                @Override
                public void lost(Grant grant) {
                    throw new StackOverflowError("of a listener");
                }
            });
            Grant first = RawStore.hold(holder, "first", LEASE);
            Grant second = RawStore.hold(holder, "second", LEASE);
            Grant others = RawStore.hold(other, "others", LEASE);
            Asked waiting = Asked.of(holder, RawStore.claim("others", LEASE, true));
            await().atMost(LONG)
                    .until(() -> RawStore.answer(other.status("others")).waiting() == 1);

            Etcd.revokeLease(server, "/holdfast/locks/first\0");

            assertThat(RawStore.answer(holder.renew(List.of(first, second))).values())
                    .extracting(Renewal::verdict)
                    .containsOnly(Renewal.Verdict.LOST);
            assertThat(RawStore.answer(other.release(others))).isTrue();
            assertThat(RawStore.answer(waiting.answer())).as("in a new session").isPresent();
        }
    }

    @Test
    void anErrorInAStepOfAClaimIsItsAnswer() {
        FaultyTime time = new FaultyTime();
        try (Store store = RawStore.open(server.port(), time);
                Store other = RawStore.open(server.port())) {
            store.listen(new IgnoringListener());
            Grant held = RawStore.hold(other, "step", LEASE);
            Claim claim = RawStore.claim("step", LEASE, true);
            Asked waiting = Asked.of(store, claim);
            await().atMost(LONG)
                    .until(() -> RawStore.answer(other.status("step")).waiting() == 1);

            time.failNextReading(new StackOverflowError("of a test"));
            RawStore.answer(other.release(held));

            assertFails(waiting);
            assertThat(time.hasFailed()).isTrue();
            RawStore.answer(store.withdraw(claim));
            assertThat(RawStore.hold(other, "step", LEASE)).isNotNull();
        }
    }

    /** The first claim opens the session of its lease, for which all others would wait. */
    @Test
    void aClaimWithoutATimerFailsAndTheNextOneDoesNotWaitForIt() {
        FaultyTime time = new FaultyTime();
        try (Store store = RawStore.open(server.port(), time)) {
            store.listen(new IgnoringListener());
            time.failNextTask(new StackOverflowError("of a timer"));

            assertFails(Asked.of(store, RawStore.claim("timer", LEASE, false)));
            time.failNextTask(new StackOverflowError("of a timer"));
            assertFails(Asked.of(store, RawStore.claim("timer", LEASE, true)));

            assertThat(RawStore.hold(store, "timer", LEASE)).isNotNull();
        }
    }

    /** A watch that is lost without a word is found out by the poll alone. */
    @Test
    void aTimerThatFailsOnceDoesNotEndThePoll() {
        FaultyTime time = new FaultyTime();
        try (Store store = new EtcdStoreProvider().open(Etcd.url(server.endpoint(), "4s"), new StoreContext(time));
                Store other = RawStore.open(server.port())) {
            store.listen(new IgnoringListener());
            Grant held = RawStore.hold(other, "polled", LEASE);
            time.failNextTask(new StackOverflowError("of a timer"));
            assertFails(Asked.of(store, RawStore.claim("polled", LEASE, true)));
            assertThat(time.longestDelay()).as("of what was scheduled").isLessThan(LEAST_POLL);

            Asked waiting = Asked.of(store, RawStore.claim("polled", LEASE, true));

            await().atMost(LONG).until(() -> time.longestDelay().compareTo(LEAST_POLL) > 0);
            assertThat(RawStore.answer(other.release(held))).isTrue();
            assertThat(RawStore.answer(waiting.answer())).isPresent();
        }
    }

    @Test
    void aBrokenGrantIsRemovedThoughTheTimerFailsOnce() {
        FaultyTime time = new FaultyTime();
        try (Store holder = RawStore.open(server.port(), time);
                Store other = RawStore.open(server.port())) {
            Queue<Grant> losses = new ConcurrentLinkedQueue<>();
            holder.listen(new IgnoringListener() {
                @Override
                public void lost(Grant grant) {
                    losses.add(grant);
                }
            });
            Grant kept = RawStore.hold(holder, "kept-by-faulty", BRIEF);
            Grant grant = RawStore.hold(holder, "broken-by-left", BRIEF);
            try (Store breaker = RawStore.open(server.port())) {
                RawStore.answer(breaker.breakGrant(grant.name(), grant.number(), false));
            }
            time.failNextTask(BRIEF::equals, new StackOverflowError("of a timer"));

            assertThat(RawStore.answer(holder.renew(List.of(grant))).values())
                    .extracting(Renewal::verdict)
                    .containsOnly(Renewal.Verdict.LOST);

            assertThat(time.hasFailed()).isTrue();
            assertThat(losses).containsExactly(grant);
            await().atMost(LONG)
                    .until(() ->
                            !RawStore.answer(other.status("broken-by-left")).isHeld());
            assertThat(RawStore.answer(holder.release(kept))).isTrue();
        }
    }

    @Test
    void aReleaseThatCannotBeMadeIsAnsweredAndCanBeRepeated() {
        try (KitTime time = new KitTime();
                Client client = Client.builder()
                        .endpoints("http://" + server.endpoint())
                        .build();
                Store store = RawStore.open(server.port())) {
            Grant grant = RawStore.hold(store, "unmade", LEASE);
            Releases releases = new Releases(new Requests(client, time, LONG, new Errors("etcd")), new Keys(""));

            CompletableFuture<Boolean> failed = releases.release(grant, new Held(null, null));

            assertThat(failed).isCompletedExceptionally();
            assertThat(RawStore.answer(releases.release(grant, null))).isTrue();
            assertThat(releases.behind("unmade", () -> CompletableFuture.completedFuture("sent")))
                    .isCompletedWithValue("sent");
        }
    }

    private static void assertFails(Asked claim) {
        Assertions.assertThatThrownBy(() -> RawStore.answer(claim.answer()))
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(StoreUnavailableException.class);
    }
}
