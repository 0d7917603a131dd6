package dev.holdfast.recipes;

import static dev.holdfast.recipes.Clients.resultOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.StoreUnavailableException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One rebuild at a time. */
class SingleFlightTest {
    @AutoClose
    private final Clients clients = new Clients(4);

    private final FencedCache cache = new FencedCache();
    private final AtomicInteger loads = new AtomicInteger();

    private SingleFlight<String> articles(int client) {
        return SingleFlight.of(clients.get(client), "article", cache);
    }

    private String load(String key) {
        return "article " + key + ", version " + loads.incrementAndGet();
    }

    @Test
    void fiveHundredReadersLoadOncePerExpiry() throws Exception {
        for (int expiry = 1; expiry <= 5; expiry++) {
            cache.expire("42");
            List<Future<String>> readers = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                SingleFlight<String> articles = articles(i);
                readers.add(clients.start(() -> articles.get("42", this::load)));
            }
            for (Future<String> reader : readers) {
                assertThat(resultOf(reader)).isEqualTo("article 42, version " + expiry);
            }
        }
        assertThat(loads).hasValue(5);
    }

    @Test
    @Tag("thorough")
    void theReadersOfAProcessAreOneClaimInTheStore() throws Exception {
        SingleFlight<String> articles = articles(0);
        Gate gate = new Gate();
        List<Future<String>> readers = new ArrayList<>();
        readers.add(clients.start(() -> articles.get("42", key -> {
            gate.pass();
            return load(key);
        })));
        gate.awaitArrival();
        for (int i = 0; i < 100; i++) {
            readers.add(clients.start(() -> articles.get("42", this::load)));
        }
        gate.open();
        for (Future<String> reader : readers) {
            assertThat(resultOf(reader)).isEqualTo("article 42, version 1");
        }
        assertThat(clients.get(0).statistics().claims()).isEqualTo(1);
    }

    @Test
    void aLoaderThatHangsKeepsTheReadersOfItsOwnProcessNoLonger() throws Exception {
        HoldOptions impatient =
                HoldOptions.defaults().lease(Duration.ofMillis(500)).maxHold(Duration.ofMillis(500));
        SingleFlight<String> articles = SingleFlight.of(clients.get(0), "article", cache, impatient);
        Gate gate = new Gate();
        Future<String> hanging = clients.start(() -> articles.get("42", key -> {
            gate.pass();
            return "late";
        }));
        gate.awaitArrival();

        assertThat(articles.get("42", this::load)).isEqualTo("article 42, version 1");
        gate.open();
        assertThat(resultOf(hanging)).isEqualTo("late");
        assertThat(cache.get("42")).contains(Cached.fresh("article 42, version 1"));
    }

    @Test
    void aLoaderThatAsksForItsOwnKeyIsTold() {
        SingleFlight<String> articles = articles(0);

        assertThatThrownBy(() -> articles.get("42", key -> articles.get(key, this::load)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the loader of 'article/42' asks for its own key");
    }

    @Test
    @Tag("thorough")
    void keysAreLoadedBesideEachOther() throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        Loader<String, InterruptedException> meets = key -> {
            both.countDown();
            both.await();
            return load(key);
        };
        Future<String> first = clients.start(() -> articles(0).get("1", meets));
        Future<String> second = clients.start(() -> articles(1).get("2", meets));

        assertThat(List.of(resultOf(first), resultOf(second))).allMatch(article -> article.startsWith("article"));
    }

    @Test
    void aLoaderThatThrowsFailsItsCallerAndTheNextReaderLoads() throws Exception {
        Gate gate = new Gate();
        Future<String> failing = clients.start(() -> articles(0).get("42", key -> {
            gate.pass();
            throw new IOException("no disk");
        }));
        gate.awaitArrival();
        Future<String> next = clients.start(() -> articles(1).get("42", this::load));
        awaitWaiting("article/42", 1);
        gate.open();

        assertThatThrownBy(() -> resultOf(failing))
                .isInstanceOf(IOException.class)
                .hasMessage("no disk");
        assertThat(resultOf(next)).isEqualTo("article 42, version 1");
    }

    @Test
    void aLoaderThatReturnsNullIsNamedAndNothingIsPut() throws Exception {
        assertThatThrownBy(() -> articles(0).get("42", key -> null))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("the loader of 'article/42' returned null");
        assertThat(cache.get("42")).isEmpty();
        assertThat(articles(1).get("42", this::load)).isEqualTo("article 42, version 1");
    }

    @Test
    void aLoaderThatHangsPassesTheTurnOnAndItsLateValueIsIgnored() throws Exception {
        HoldOptions impatient =
                HoldOptions.defaults().lease(Duration.ofMillis(500)).maxHold(Duration.ofMillis(500));
        Gate gate = new Gate();
        Future<String> hanging = clients.start(() -> SingleFlight.of(clients.get(0), "article", cache, impatient)
                .get("42", key -> {
                    gate.pass();
                    return "late";
                }));
        gate.awaitArrival();

        String next = articles(1).get("42", this::load);
        gate.open();

        assertThat(next).isEqualTo("article 42, version 1");
        assertThat(resultOf(hanging)).as("its own caller has what was loaded").isEqualTo("late");
        assertThat(cache.get("42")).contains(Cached.fresh("article 42, version 1"));
    }

    @Test
    void aReaderWaitsNoLongerThanItSaidForALoaderThatNeverReturns() throws Exception {
        Gate gate = new Gate();
        Future<String> hanging = clients.start(() -> articles(0).get("42", key -> {
            gate.pass();
            return load(key);
        }));
        gate.awaitArrival();

        assertThat(articles(1).get("42", Duration.ofMillis(50), this::load)).isEmpty();
        gate.open();
        assertThat(resultOf(hanging)).isEqualTo("article 42, version 1");
        assertThat(articles(1).get("42", Duration.ZERO, this::load)).contains("article 42, version 1");
        assertThat(loads).hasValue(1);
    }

    @Test
    @Tag("thorough")
    void aReaderWithATimedWaitLoadsWhereNobodyElseDoes() throws Exception {
        assertThat(articles(0).get("42", Duration.ofMillis(50), this::load)).contains("article 42, version 1");
    }

    @Test
    void aTimedWaitThatIsOverShowsAStaleValueOnlyToThoseWhoAskedForThem() throws Exception {
        cache.put("42", "old", 0);
        cache.makeStale("42");
        Gate gate = new Gate();
        Future<String> rebuilds = clients.start(() -> articles(0).get("42", key -> {
            gate.pass();
            return load(key);
        }));
        gate.awaitArrival();

        assertThat(articles(1).get("42", Duration.ofMillis(50), this::load)).isEmpty();
        assertThat(articles(2).servingStale().get("42", Duration.ofMillis(50), this::load))
                .contains("old");
        gate.open();
        assertThat(resultOf(rebuilds)).isEqualTo("article 42, version 1");
    }

    @Test
    void aStaleValueIsServedWhileOneReaderRebuildsIt() throws Exception {
        cache.put("42", "old", 0);
        cache.makeStale("42");
        Gate gate = new Gate();
        Future<String> rebuilds = clients.start(() -> articles(0).servingStale().get("42", key -> {
            gate.pass();
            return load(key);
        }));
        gate.awaitArrival();

        for (int i = 1; i < 4; i++) {
            assertThat(articles(i).servingStale().get("42", this::load)).isEqualTo("old");
        }
        gate.open();
        assertThat(resultOf(rebuilds)).isEqualTo("article 42, version 1");
        assertThat(articles(1).servingStale().get("42", this::load)).isEqualTo("article 42, version 1");
        assertThat(loads).hasValue(1);
    }

    @Test
    void aClientThatHasRebuiltAValueIsNotTakenForOneThatRebuildsItsSuccessor() throws Exception {
        HoldOptions retaining = HoldOptions.defaults().retain(Duration.ofMinutes(1));
        SingleFlight<String> first =
                SingleFlight.of(clients.get(0), "article", cache, retaining).servingStale();
        assertThat(first.get("42", this::load)).isEqualTo("article 42, version 1");
        cache.makeStale("42");
        org.awaitility.Awaitility.await()
                .atMost(Duration.ofSeconds(10))
                .until(() -> !clients.get(3).lock("article/42").status().isHeld());

        assertThat(articles(1).servingStale().get("42", this::load)).isEqualTo("article 42, version 2");
    }

    @Test
    void aCacheThatAnswersNullIsToldToAnswerEmpty() {
        assertThatThrownBy(() -> Cached.fresh(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("the cache returns empty");
    }

    @Test
    @Tag("thorough")
    void withoutServingStaleAReaderWaitsForTheNewValue() throws Exception {
        cache.put("42", "old", 0);
        cache.makeStale("42");

        assertThat(articles(0).get("42", this::load)).isEqualTo("article 42, version 1");
    }

    @Test
    @Tag("thorough")
    void hitsAndStaleValuesNeedNoStoreOfLocks() throws Exception {
        cache.put("fresh", "fresh", 0);
        cache.put("stale", "stale", 0);
        cache.makeStale("stale");
        try (LockClient client = LockClient.connect(clients.server.uri() + "?timeout=2s")) {
            SingleFlight<String> articles = SingleFlight.of(client, "article", cache);
            clients.server.process().kill();

            assertThat(articles.get("fresh", this::load)).isEqualTo("fresh");
            assertThat(articles.servingStale().get("stale", this::load)).isEqualTo("stale");
        }
        assertThat(loads).hasValue(0);
    }

    @Test
    @Tag("thorough")
    void theReadersOfAProcessHearOfAnOutageTogether() throws Exception {
        try (LockClient client = LockClient.builder(clients.server.uri() + "?timeout=1s")
                .outageLimit(Duration.ofSeconds(2))
                .build()) {
            SingleFlight<String> articles = SingleFlight.of(client, "article", cache);
            clients.server.process().kill();

            List<Future<String>> readers = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                readers.add(clients.start(() -> articles.get("42", this::load)));
            }

            int heardOfAnother = 0;
            for (Future<String> reader : readers) {
                StoreUnavailableException failure =
                        catchThrowableOfType(StoreUnavailableException.class, () -> resultOf(reader));
                heardOfAnother += failure.getCause() instanceof StoreUnavailableException cause
                                && cause.getMessage().equals(failure.getMessage())
                        ? 1
                        : 0;
            }
            assertThat(heardOfAnother)
                    .as("readers that did not wait for the store by themselves")
                    .isPositive();
        }
        assertThat(loads).hasValue(0);
    }

    private void awaitWaiting(String name, int waiting) {
        org.awaitility.Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> {
            LockStatus status = clients.get(3).lock(name).status();
            return status.waiting() == waiting;
        });
    }
}
