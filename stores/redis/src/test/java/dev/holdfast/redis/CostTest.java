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
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The cost of locks to the server, by its own count. */
class CostTest {
    @AutoClose
    private Rig rig;

    @BeforeEach
    void start() {
        rig = new Rig();
    }

    @Test
    void aFreeLockIsOneScriptToAcquireAndOneToRelease() {
        RedisStore store = rig.open();
        Rig.hold(store, "warm-up");
        rig.commands();

        Grant grant = Rig.hold(store, "a");
        assertThat(rig.commands())
                .as("of the lock and of the last number")
                .containsOnly(Map.entry("evalsha", 1), Map.entry("time", 1), Map.entry("get", 2), Map.entry("set", 2));

        Rig.release(store, grant);
        assertThat(rig.commands()).containsOnly(Map.entry("evalsha", 1), Map.entry("get", 1), Map.entry("del", 1));
    }

    /** As that of a member of a quorum is, a few milliseconds ahead of the others. */
    @Test
    void soIsOneWhereTheLastNumberIsAheadOfTheClock() {
        RedisStore store = rig.open();
        long ahead = Rig.hold(store, "warm-up").number() + TimeUnit.HOURS.toMicros(1);
        rig.call("SET", "holdfast:number", Long.toString(ahead));
        rig.commands();

        Grant grant = Rig.hold(store, "a");

        assertThat(grant.number()).isEqualTo(ahead + 1);
        assertThat(rig.commands())
                .containsOnly(Map.entry("evalsha", 1), Map.entry("time", 1), Map.entry("get", 2), Map.entry("set", 2));
    }

    @Test
    void aFailedTryReadsOnly() {
        RedisStore store = rig.open();
        Rig.hold(store, "a");
        rig.commands();

        assertThat(Rig.attempt(store, "a")).isEmpty();

        assertThat(rig.commands()).containsOnly(Map.entry("evalsha", 1), Map.entry("get", 1));
    }

    @Test
    void aReleaseAndTheClaimThatFollowsItAreOneScript() {
        RedisStore store = rig.open();
        Grant grant = Rig.hold(store, "a");
        rig.commands();
        int turns = 200;
        for (int i = 0; i < turns; i++) {
            Exchange exchange = Exchange.of(store, grant, Rig.claim("a"));
            assertThat(Rig.get(exchange.released())).isTrue();
            grant = Rig.get(exchange.claimed()).orElseThrow();
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
        rig.awaitHearing(clients, "a");
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
        rig.awaitHearing(1, "a");
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

    /** Bytes of the append-only file, for a lock and an unlock of which each finds another client waiting. */
    @Test
    void aHandOverWritesFewBytesThoughTheQueueKeepsWhoWaits() {
        rig.call("CONFIG", "SET", "appendonly", "yes");
        rig.call("CONFIG", "SET", "auto-aof-rewrite-percentage", "0");
        Rig.until(
                "the first rewrite to end",
                () -> rig.call("INFO", "persistence").contains("aof_rewrite_in_progress:0"));
        List<RedisStore> stores = List.of(rig.open(rig.server.uri(), Rig.NEVER), rig.open(rig.server.uri(), Rig.NEVER));
        Grant held = Rig.hold(stores.get(0), "handed");
        Asked waits = Rig.queue(stores.get(1), "handed");
        rig.awaitHearing(1, "handed");
        int turns = 100;
        long before = 0;
        for (int i = 1; i <= turns + 4; i++) {
            if (i == 4) {
                before = aofBytes();
            }
            Rig.release(stores.get((i + 1) % 2), held);
            held = Rig.granted(waits);
            waits = Rig.queue(stores.get((i + 1) % 2), "handed");
        }

        assertThat((aofBytes() - before) / (turns + 1)).isBetween(500L, 800L);
    }

    private long aofBytes() {
        return Long.parseLong(rig.call("INFO", "persistence").replaceAll("(?s).*aof_current_size:(\\d+).*", "$1"));
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
