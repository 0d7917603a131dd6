package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The cost of locks to the server, by its own count. */
class CostTest {
    private Rig rig;

    @BeforeEach
    void start() {
        rig = new Rig();
    }

    @AfterEach
    void stop() {
        rig.close();
    }

    @Test
    void aFreeLockIsOneScriptToAcquireAndOneToRelease() {
        RedisStore store = rig.open();
        Rig.hold(store, "warm-up");
        rig.commands();

        Grant grant = Rig.hold(store, "a");
        assertThat(rig.commands())
                .containsOnly(
                        Map.entry("evalsha", 1), Map.entry("time", 1), Map.entry("set", 1), Map.entry("getset", 1));

        Rig.release(store, grant);
        assertThat(rig.commands()).containsOnly(Map.entry("evalsha", 1), Map.entry("get", 1), Map.entry("del", 1));
    }

    @Test
    void aFailedTryReadsOnly() {
        RedisStore store = rig.open();
        Rig.hold(store, "a");
        rig.commands();

        assertThat(Rig.attempt(store, "a")).isEmpty();

        assertThat(rig.commands())
                .as("SET with NX finds it taken")
                .containsOnly(
                        Map.entry("evalsha", 1),
                        Map.entry("time", 1),
                        Map.entry("set", 1),
                        Map.entry("get", 1),
                        Map.entry("pttl", 1));
    }

    @Test
    void aReleaseAndTheClaimThatFollowsItAreOneScript() {
        RedisStore store = rig.open();
        Grant grant = Rig.hold(store, "a");
        rig.commands();
        int turns = 200;
        for (int i = 0; i < turns; i++) {
            Grant held = grant;
            CompletableFuture<CompletionStage<Boolean>> released = new CompletableFuture<>();
            CompletableFuture<CompletionStage<Optional<Grant>>> claimed = new CompletableFuture<>();
            store.beforeSending("a", () -> {
                released.complete(store.release(held));
                claimed.complete(Asked.of(store, Rig.claim("a")).answer());
            });
            boolean wasHeld = Rig.get(released.thenCompose(answer -> answer));
            assertThat(wasHeld).isTrue();
            grant = Rig.get(claimed.thenCompose(answer -> answer)).orElseThrow();
        }
        assertThat(rig.commands()).containsEntry("evalsha", turns);
    }

    @Test
    @Tag("thorough")
    void threadsOfOneClientThatWantTheSameLockAreServedWithoutTheServer() throws Exception {
        HoldOptions longEnough = HoldOptions.defaults().handOver(64, Duration.ofMinutes(1));
        try (LockClient client = LockClient.connect(rig.server.uri())) {
            Hold hold = client.lock("a", longEnough).acquire();
            List<CompletableFuture<Hold>> waiting = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                waiting.add(client.lock("a", longEnough).acquireAsync());
            }
            rig.commands();
            for (CompletableFuture<Hold> next : waiting) {
                hold.close();
                hold = next.get(10, TimeUnit.SECONDS);
                assertThat(hold.isValid()).isTrue();
            }
            assertThat(rig.commands()).as("for ten hand-overs").isEmpty();
            hold.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 200})
    void aHandOverIsTwoScriptsAndOneMessageHoweverManyWait(int clients) {
        RedisStore holder = rig.open();
        Grant grant = Rig.hold(holder, "a");
        List<RedisStore> stores = IntStream.range(0, Math.min(clients, 8))
                .mapToObj(i -> rig.open(rig.server.uri(), Rig.NEVER))
                .toList();
        List<Asked> line = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            line.add(Rig.queue(stores.get(i % stores.size()), "a"));
        }
        rig.awaitSubscribed(stores.size());
        Rig.until(
                "all to have asked since",
                () -> rig.call("ZCARD", "holdfast:{a}:q").equals(String.valueOf(2 * clients)));
        rig.commands();
        RedisStore before = holder;
        for (int i = 0; i < clients; i++) {
            Rig.release(before, grant);
            grant = Rig.granted(line.get(i));
            before = stores.get(i % stores.size());
        }
        Map<String, Integer> counted = rig.commands();
        assertThat(counted.get("evalsha")).isEqualTo(2 * clients);
        assertThat(counted.get("publish")).isEqualTo(clients);
    }

    /** Once to learn that the lock is held, and once when it is subscribed: repeated, since the two once crossed. */
    @RepeatedTest(20)
    @Tag("thorough")
    void aClientThatWaitsForTheFirstTimeAsksTwice() {
        Rig.hold(rig.open(), "a");
        RedisStore store = rig.open(rig.server.uri(), Rig.NEVER);
        rig.commands();
        Asked waits = Asked.of(store, Rig.waiting(Rig.claim("a")));
        // its place, and its deadline
        Rig.until("it to subscribe", () -> rig.call("ZCARD", "holdfast:{a}:q").equals("2"));
        Rig.get(store.status("a")); // all calls that the claim led to were sent before this was answered
        Rig.get(store.status("a"));
        assertThat(rig.commands().get("evalsha")).isEqualTo(2 + 2);
        waits.cancel();
    }

    /** Two clients hand a lock to and fro, each with more threads that want it; this includes queueing again. */
    @Test
    void aHandOverIsTwoScriptsAndOneMessageWithTheNextClaimOfTheOneThatGaveItUp() {
        List<RedisStore> stores = List.of(rig.open(rig.server.uri(), Rig.NEVER), rig.open(rig.server.uri(), Rig.NEVER));
        for (RedisStore store : stores) { // so that both are subscribed
            Grant busy = Rig.hold(store, "warm-up");
            Asked waits = Rig.queue(store, "warm-up");
            Rig.release(store, busy);
            Rig.release(store, Rig.granted(waits));
        }
        rig.awaitSubscribed(2);
        int turns = 200;
        int holder = 0;
        Grant held = Rig.hold(stores.get(0), "a");
        List<Asked> waiters = Arrays.asList(null, Rig.queue(stores.get(1), "a"));
        rig.commands();
        for (int i = 0; i < turns; i++) {
            RedisStore leaving = stores.get(holder);
            Grant given = held;
            int place = holder;
            CompletableFuture<Void> sent = new CompletableFuture<>();
            leaving.beforeSending("a", () -> {
                leaving.release(given);
                waiters.set(place, Asked.of(leaving, Rig.waiting(Rig.claim("a"))));
                sent.complete(null);
            });
            sent.join();
            Rig.until("one of two to be next", () -> waiters.stream().anyMatch(CostTest::isAnswered));
            holder = isAnswered(waiters.get(0)) ? 0 : 1;
            held = Rig.granted(waiters.get(holder));
        }
        Map<String, Integer> counted = rig.commands();
        assertThat(counted.get("publish")).isLessThanOrEqualTo(turns);
        assertThat(counted.get("evalsha")).isLessThanOrEqualTo(2 * turns);
    }

    private static boolean isAnswered(Asked pending) {
        return pending.answer().isDone();
    }

    @Test
    @Tag("thorough")
    void noMessageIsSentWithoutWaiters() {
        RedisStore store = rig.open();
        rig.commands();
        for (int i = 0; i < 50; i++) {
            Rig.release(store, Rig.hold(store, "a"));
        }
        assertThat(rig.commands()).doesNotContainKeys("publish", "zrange");
    }

    @Test
    @Tag("thorough")
    void manyRenewalsAreFewScripts() {
        RedisStore store = rig.open();
        List<Grant> grants = IntStream.range(0, 3 * ScriptPipeline.RENEWED_TOGETHER)
                .mapToObj(i -> Rig.hold(store, "a" + i))
                .toList();
        rig.commands();

        assertThat(Rig.get(store.renew(grants))).hasSize(grants.size());

        assertThat(rig.commands().get("evalsha")).isEqualTo(3);
    }

    @Test
    @Tag("thorough")
    void tenThousandNamesLeaveNothingButTheLastNumber() {
        RedisStore store = rig.open();
        int together = 500;
        for (int first = 0; first < 10_000; first += together) {
            List<CompletionStage<Optional<Grant>>> claims = new ArrayList<>();
            for (int i = 0; i < together; i++) {
                claims.add(Asked.of(store, Rig.claim("name-" + (first + i))).answer());
            }
            List<Grant> grants =
                    claims.stream().map(claim -> Rig.get(claim).orElseThrow()).toList();
            assertThat(Integer.parseInt(rig.call("DBSIZE"))).isEqualTo(together + 1);
            grants.stream().map(store::release).toList().forEach(Rig::get);
        }

        assertThat(rig.call("KEYS", "*")).isEqualTo("[holdfast:number]");
    }

    @Test
    void aClaimThatWasWithdrawnIsRememberedForHalfAMinute() {
        RedisStore store = rig.open();

        Rig.get(store.withdraw(Rig.claim("a")));

        assertThat(Long.parseLong(rig.call("PTTL", "holdfast:{a}"))).isBetween(25_000L, 30_000L);
    }
}
