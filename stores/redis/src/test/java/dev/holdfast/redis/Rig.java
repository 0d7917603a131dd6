package dev.holdfast.redis;

import dev.holdfast.Holder;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** A server of its own, and stores on it, without an engine. */
final class Rig implements AutoCloseable {
    static final Duration LEASE = Duration.ofSeconds(30);
    static final Duration TIMEOUT = Duration.ofSeconds(30);
    /** So seldom that no waiter polls during a test. */
    static final Duration NEVER = Duration.ofHours(1);
    /** How far the clients' time is ahead. */
    static final long AHEAD = TimeUnit.HOURS.toNanos(7);

    private static final Pattern DEADLINE = Pattern.compile("@\\S+, (\\d+)");
    private static final Holder HOLDER = new Holder("host", 7, "main", "label");

    final RedisServer server;
    private final Time time = new Time();
    private final Deque<RedisStore> stores = new ArrayDeque<>();

    Rig(String... options) {
        this(OrSkip.orSkip(() -> RedisServer.start(options)));
    }

    private Rig(RedisServer server) {
        this.server = server;
    }

    /** With the server of the distribution, which takes a clock and speaks TLS. */
    static Rig installed(Map<String, String> environment, String... options) {
        return new Rig(OrSkip.orSkip(() -> RedisServer.startInstalled(environment, options)));
    }

    TimeSource time() {
        return time;
    }

    /** The context that a client passes to a store on an application's own client. */
    StoreContext context() {
        return new StoreContext(time);
    }

    RedisStore open() {
        return open(server.uri());
    }

    RedisStore open(String url) {
        return open(url, PendingClaims.POLL);
    }

    RedisStore open(String url, Duration poll) {
        RedisStore store = RedisStoreProvider.open(RedisUrl.parse(url, Optional.empty()), time, poll);
        stores.push(store);
        return store;
    }

    static Claim claim(String name) {
        return new Claim(ClaimId.random(), name, Mode.EXCLUSIVE, LEASE, false, 0, HOLDER);
    }

    static Claim claim(String name, Duration lease) {
        return new Claim(ClaimId.random(), name, Mode.EXCLUSIVE, lease, false, 0, HOLDER);
    }

    static Claim claim(String name, Mode mode) {
        return new Claim(ClaimId.random(), name, mode, LEASE, false, 0, HOLDER);
    }

    static Claim waiting(Claim c) {
        return new Claim(c.id(), c.name(), c.mode(), c.lease(), true, c.floor(), c.holder());
    }

    static Claim above(Claim c, long floor) {
        return new Claim(c.id(), c.name(), c.mode(), c.lease(), c.waits(), floor, c.holder());
    }

    static Optional<Grant> attempt(RedisStore store, String name) {
        return get(Asked.of(store, claim(name)).answer());
    }

    static Grant hold(RedisStore store, Claim claim) {
        return get(Asked.of(store, claim).answer())
                .orElseThrow(() -> new AssertionError("'" + claim.name() + "' is not free"));
    }

    static Grant hold(RedisStore store, String name) {
        return hold(store, claim(name));
    }

    /** A claim that is in the queue of the server. */
    static Asked queue(RedisStore store, String name) {
        int before = waiting(store, name);
        Asked pending = Asked.of(store, waiting(claim(name)));
        until(name + " to be waited for", () -> waiting(store, name) == before + 1);
        return pending;
    }

    /** Awaits that so many clients are subscribed to offers. */
    void awaitSubscribed(int clients) {
        until(
                clients + " clients to subscribe",
                () -> call("PUBSUB", "CHANNELS", "*").split("holdfast:client:", -1).length == clients + 1);
    }

    /** Awaits that so many in a queue hear offers, which each says with its last call for now. */
    void awaitHearing(int waiters, String name) {
        until(
                waiters + " to hear offers",
                () -> hearing(call("ZRANGE", queue(name), "0", "-1", "WITHSCORES")) == waiters);
    }

    /** How many in a queue hear offers: their deadlines are even. */
    static int hearing(String queueWithScores) {
        return (int) DEADLINE.matcher(queueWithScores)
                .results()
                .filter(found -> Long.parseLong(found.group(1)) % 2 == 0)
                .count();
    }

    static String queue(String name) {
        return "holdfast:{" + name + "}:q";
    }

    static Grant granted(Asked pending) {
        return get(pending.answer()).orElseThrow(() -> new AssertionError("answered with nothing"));
    }

    static boolean release(RedisStore store, Grant grant) {
        return get(store.release(grant));
    }

    static Renewal.Verdict renew(RedisStore store, Grant grant) {
        return get(store.renew(List.of(grant))).get(grant.id()).verdict();
    }

    static int waiting(RedisStore store, String name) {
        return get(store.status(name)).waiting();
    }

    static void until(String what, java.util.concurrent.Callable<Boolean> condition) {
        Awaitility.await(what)
                .atMost(TIMEOUT)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(condition);
    }

    /** The answer to come of a call that is not sent yet. */
    static CompletableFuture<ScriptCall.Answer> answerOf(ScriptCall call) {
        CompletableFuture<ScriptCall.Answer> answer = new CompletableFuture<>();
        call.tell((said, failure) -> {
            if (said == null) {
                answer.completeExceptionally(failure);
            } else {
                answer.complete(said);
            }
        });
        return answer;
    }

    /** The answer; a failure is thrown as it is. */
    static <T> T get(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException unchecked) {
                throw unchecked;
            }
            throw new AssertionError(e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("no answer", e);
        }
    }

    /** Asks the server directly. */
    String call(String... command) {
        return server.call(command);
    }

    /** How often each command was run since the last call, those within scripts too. */
    Map<String, Integer> commands() {
        try (RespConnection redis = server.connect()) {
            Map<String, Integer> counts = new TreeMap<>();
            redis.call("INFO", "commandstats")
                    .lines()
                    .filter(line -> line.startsWith("cmdstat_"))
                    .forEach(line -> counts.put(
                            line.substring("cmdstat_".length(), line.indexOf(':')),
                            Integer.valueOf(line.replaceAll("[^:]*:calls=(\\d+),.*", "$1"))));
            redis.call("CONFIG", "RESETSTAT");
            counts.keySet().removeAll(List.of("config|resetstat", "info"));
            return counts;
        }
    }

    void closeStores() {
        for (RedisStore store = stores.poll(); store != null; store = stores.poll()) {
            store.close();
        }
    }

    @Override
    public void close() {
        closeStores();
        time.close();
        server.close();
    }

    /** A client's time: it runs seven hours ahead of the machine's, so that a mix-up is detected. */
    static final class Time implements TimeSource, AutoCloseable {
        private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);

        @Override
        public long nanoTime() {
            return System.nanoTime() + AHEAD;
        }

        @Override
        public long wallMillis() {
            throw new AssertionError("a Redis store asks no wall clock");
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            ScheduledFuture<?> planned = timer.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
            return () -> planned.cancel(false);
        }

        @Override
        public void close() {
            timer.shutdownNow();
        }
    }
}
