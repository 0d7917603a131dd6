package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.Holder;
import dev.holdfast.LockClient;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.IgnoringListener;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** How the server notifies a holder that others wait, and the cost of a retained lock to the server. */
class WantedTest {
    private static final HoldOptions RETAINED = HoldOptions.defaults().retain(Duration.ofMinutes(1));

    @AutoClose
    private final Rig rig = new Rig();

    private final AtomicInteger wanted = new AtomicInteger();
    private final StoreListener counting = new IgnoringListener() {
        @Override
        public void wanted(Grant grant) {
            wanted.incrementAndGet();
        }
    };

    private Grant watched(RedisStore store) {
        store.listen(counting);
        Grant grant = Rig.hold(store, "a");
        assertThat(Rig.get(store.watch(grant))).as("a claim waits already").isFalse();
        return grant;
    }

    @Test
    void aRetainedLockIsAcquiredAgainWithoutTheServer() throws Exception {
        try (LockClient client = LockClient.connect(rig.server.uri())) {
            client.lock("a", RETAINED).acquire().close();
            Rig.until(
                    "the server to have been asked to notify",
                    () -> rig.call("GET", "holdfast:{a}").contains("holdfast:client:"));
            rig.commands();

            for (int i = 0; i < 100; i++) {
                client.lock("a", RETAINED).acquire().close();
            }

            assertThat(rig.commands()).as("for a hundred holds").isEmpty();
        }
    }

    @Test
    void aRivalTakesARetainedLockByThreeScriptsAndTwoMessages() throws Exception {
        try (LockClient client = LockClient.connect(rig.server.uri());
                LockClient rival = LockClient.connect(rig.server.uri())) {
            Hold other = client.lock("warm-up").acquire();
            CompletableFuture<Hold> waiting = rival.lock("warm-up").acquireAsync();
            rig.awaitSubscribed(1);
            other.close();
            waiting.get(10, TimeUnit.SECONDS).close();
            client.lock("a", RETAINED).acquire().close();
            Rig.until(
                    "the server to have been asked to notify",
                    () -> rig.call("GET", "holdfast:{a}").contains("holdfast:client:"));
            rig.commands();

            Hold theirs = rival.lock("a").acquire();

            assertThat(rig.commands()).containsEntry("evalsha", 3).containsEntry("publish", 2);
            theirs.close();
        }
    }

    @Test
    void theHolderIsNotifiedOfAClaimThatWaitsAndNotOfATry() {
        RedisStore one = rig.open();
        RedisStore two = rig.open();
        watched(one);

        assertThat(Rig.attempt(two, "a")).isEmpty();
        assertThat(wanted).hasValue(0);
        Rig.queue(two, "a");

        Rig.until("the holder to be notified", () -> wanted.get() > 0);
    }

    @Test
    void aWaitingReaderIsReportedToo() {
        RedisStore one = rig.open();
        RedisStore two = rig.open();
        watched(one);

        Asked.of(two, Rig.waiting(Rig.claim("a", Mode.SHARED)));

        Rig.until("the holder to be notified", () -> wanted.get() > 0);
    }

    @Test
    void aWaiterThatArrivedFirstIsInTheAnswer() {
        RedisStore one = rig.open();
        RedisStore two = rig.open();
        one.listen(counting);
        Grant grant = Rig.hold(one, "a");
        Rig.queue(two, "a");

        assertThat(Rig.get(one.watch(grant))).isTrue();
    }

    @Test
    void aMessageThatWasLostIsSentAgainWhenTheWaiterPolls() {
        RedisStore one = rig.open();
        RedisStore two = rig.open(rig.server.uri(), Duration.ofMillis(100));
        watched(one);
        Rig.queue(two, "a");

        Rig.until("the holder to be notified several times", () -> wanted.get() > 2);
    }

    @Test
    void renewalsAndTheLeaseGoOnAsBefore() {
        RedisStore one = rig.open();
        Grant grant = watched(one);

        assertThat(Rig.get(one.renew(List.of(grant))).get(grant.id()).contended())
                .isFalse();
        assertThat(Rig.get(one.status("a")).grant().orElseThrow().holder().label())
                .isEqualTo("label");
        assertThat(Rig.get(one.watch(grant))).isFalse();
        assertThat(rig.call("GET", "holdfast:{a}").split("holdfast:client:", -1))
                .hasSize(2);
        assertThat(Rig.release(one, grant)).isTrue();
        assertThat(Rig.attempt(one, "a")).isPresent();
    }

    @Test
    void theSuccessorIsNotWatched() {
        RedisStore one = rig.open();
        RedisStore two = rig.open();
        Grant grant = watched(one);
        Asked next = Rig.queue(two, "a");
        Rig.until("the holder to be notified", () -> wanted.get() > 0);
        Rig.release(one, grant);
        Rig.granted(next);
        int before = wanted.get();

        Rig.queue(rig.open(), "a");

        assertThat(wanted).hasValue(before);
        assertThat(rig.call("GET", "holdfast:{a}")).doesNotContain("holdfast:client:");
    }

    @Test
    void aGrantThatIsGoneIsNotWatched() {
        RedisStore one = rig.open();
        RedisStore two = rig.open();
        Grant grant = watched(one);
        Rig.release(one, grant);
        Grant theirs = Rig.hold(two, "a");

        assertThat(Rig.get(one.watch(grant))).isFalse();

        assertThat(rig.call("GET", "holdfast:{a}"))
                .doesNotContain("holdfast:client:")
                .contains(theirs.id().value());
    }

    @Test
    void aWatchedWriterMayBecomeAReader() {
        RedisStore one = rig.open();
        Grant grant = watched(one);

        assertThat(Rig.get(one.downgrade(grant))).isTrue();

        assertThat(Rig.get(one.status("a")).grant().orElseThrow().holder().host())
                .isEqualTo("host");
        assertThat(Rig.release(one, grant)).isTrue();
    }

    @Test
    void aNameOfAHolderWithoutLabelIsKept() {
        RedisStore one = rig.open();
        one.listen(counting);
        Grant grant = Rig.granted(Asked.of(
                one,
                Rig.waiting(new Claim(
                        ClaimId.random(), "a", Mode.EXCLUSIVE, Rig.LEASE, true, 0, new Holder("host", 7, "", "")))));

        Rig.get(one.watch(grant));
        Rig.get(one.watch(grant));

        assertThat(Rig.get(one.status("a")).grant().orElseThrow().holder()).isEqualTo(new Holder("host", 7, "", ""));
    }
}
