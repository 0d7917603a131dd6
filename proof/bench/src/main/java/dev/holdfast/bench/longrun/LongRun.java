package dev.holdfast.bench.longrun;

import dev.holdfast.Candidacy;
import dev.holdfast.ClientStatistics;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.Once;
import dev.holdfast.OnceOptions;
import dev.holdfast.Term;
import dev.holdfast.bench.longrun.Steps.Work;
import dev.holdfast.testbed.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What goes on for long. Whatever is lost by that fails the run. */
enum LongRun {
    /** Every lock is renewed each 12 minutes: in the third step after a third of its lease. */
    RENEWED("a week of 1,000 renewed locks and one leader", Duration.ofDays(7), Duration.ofMinutes(4)) {
        @Override
        Outcome run(String url, Steps steps) throws Exception {
            try (LockClient client = LockClient.connect(url);
                    Candidacy leader = client.election("leader", OPTIONS).stand()) {
                Term term = leader.awaitTerm();
                List<Hold> holds = new ArrayList<>();
                for (int i = 0; i < LOCKS; i++) {
                    holds.add(client.lock("renewed-" + i, OPTIONS).acquire());
                }
                Work renewed = () -> {
                    require(isRenewed(term::remaining), () -> "the leader's term is over: " + term.loss());
                    for (Hold hold : holds) {
                        require(isRenewed(hold::remaining), () -> hold.name() + " was not renewed");
                    }
                };
                Map<String, Trend> kept = steps.run(renewed, renewed);
                holds.forEach(Hold::close);
                return outcome(
                        kept, "%,d renewals".formatted(client.statistics().renewals()), client);
            }
        }
    },

    /** Two clients try every half hour. */
    HOURLY("a year of a run every hour", Duration.ofDays(365), Duration.ofMinutes(30)) {
        @Override
        Outcome run(String url, Steps steps) throws Exception {
            OnceOptions hourly = OnceOptions.every(Duration.ofHours(1));
            try (LockClient client = LockClient.connect(url);
                    LockClient rival = LockClient.connect(url)) {
                List<Once> both = List.of(client.once("hourly", hourly), rival.once("hourly", hourly));
                int[] ran = {0, 0};
                Work tried = () -> {
                    for (Once once : both) {
                        ran[1]++;
                        ran[0] += once.run(turn -> {}).ran() ? 1 : 0;
                    }
                };
                Map<String, Trend> kept = steps.run(tried, tried);
                require(
                        Math.abs(ran[0] - ran[1] / TRIES_AN_HOUR) <= 1,
                        () -> "ran %,d times in %,d hours: does the server go by the moved clock?"
                                .formatted(ran[0], ran[1] / TRIES_AN_HOUR));
                return outcome(kept, "%,d runs, %,d tries".formatted(ran[0], ran[1]), client, rival);
            }
        }
    },

    /** As many names as the store takes in a few minutes, 10 million at most, spread over a week. */
    NAMES("a week of names used once", Duration.ofDays(7), Duration.ofMinutes(10)) {
        @Override
        Outcome run(String url, Steps steps) throws Exception {
            try (LockClient client = LockClient.connect(url)) {
                int each =
                        (int) Math.ceil(Math.min(MOST_NAMES, rate(client) * TIME_FOR_NAMES.toSeconds()) / wholeCount());
                int[] used = {0};
                double[] seconds = {0};
                Work names = () -> {
                    double began = steps.seconds();
                    useOnce(client, "once-" + used[0] + "-", each);
                    used[0] += each;
                    seconds[0] += steps.seconds() - began;
                };
                Map<String, Trend> kept = steps.run(names, () -> {});
                return outcome(
                        kept,
                        "%,d names, %,.0f a minute".formatted(used[0], used[0] / seconds[0] * SECONDS_PER_MINUTE),
                        client);
            }
        }
    };

    private static final int LOCKS = 1_000;
    private static final int TRIES_AN_HOUR = 4;
    private static final int STEPS_OF_A_SESSION = 4;
    private static final double MOST_NAMES = 10_000_000;
    private static final double SECONDS_PER_MINUTE = 60;
    private static final Duration TIME_FOR_NAMES = Duration.ofMinutes(3);
    private static final int NAMES_AT_FIRST = 5_000;
    private static final double SECONDS_OF_RATE = 8;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int IN_FLIGHT = 64;
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    /** No step is longer than a third of it. */
    private static final HoldOptions OPTIONS = HoldOptions.defaults().lease(Duration.ofMinutes(30));

    final String title;
    final Duration length;
    final Duration step;

    LongRun(String title, Duration length, Duration step) {
        this.title = title;
        this.length = length;
        this.step = step;
    }

    /**
     * What came of it.
     *
     * @param kept by what is kept
     * @param done what was done, in words
     */
    record Outcome(Map<String, Trend> kept, String done) {}

    /** Its steps if all of it is run. */
    int wholeCount() {
        return (int) length.dividedBy(step);
    }

    /** How long a session must live where a client has one: as long as a lease, and several steps. */
    Duration session() {
        Duration steps = step.multipliedBy(STEPS_OF_A_SESSION);
        return steps.compareTo(OPTIONS.lease()) < 0 ? OPTIONS.lease() : steps;
    }

    /**
     * Runs it against a store, whose clock is that of the steps.
     *
     * @throws IllegalStateException if something was lost
     */
    abstract Outcome run(String url, Steps steps) throws Exception;

    private static Outcome outcome(Map<String, Trend> kept, String done, LockClient... clients) {
        long late = 0;
        for (LockClient client : clients) {
            ClientStatistics counted = client.statistics();
            late += counted.failedStoreCalls();
            require(
                    counted.losses() + counted.lateLosses() + counted.leaks() == 0,
                    () -> "holds were lost or leaked: " + counted);
        }
        return new Outcome(kept, done + (late > 0 ? ", %,d requests that a step has overtaken".formatted(late) : ""));
    }

    private static double rate(LockClient client) throws Exception {
        useOnce(client, "first-", NAMES_AT_FIRST);
        long began = System.nanoTime();
        double seconds = 0;
        int used = 0;
        while (seconds < SECONDS_OF_RATE) {
            useOnce(client, "rate-" + used + "-", NAMES_AT_FIRST);
            used += NAMES_AT_FIRST;
            seconds = (System.nanoTime() - began) / NANOS_PER_SECOND;
        }
        return used / seconds;
    }

    /** Locks so many names and unlocks them; some at a time, so that their requests can share a packet or a commit. */
    private static void useOnce(LockClient client, String prefix, int names) throws Exception {
        Semaphore free = new Semaphore(IN_FLIGHT);
        AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
        for (int i = 0; i < names && failed.get() == null; i++) {
            free.acquire();
            CompletableFuture<Void> unused = client.lock(prefix + i, OPTIONS)
                    .acquireAsync()
                    .thenAccept(Hold::close)
                    .whenComplete((nothing, failure) -> {
                        failed.compareAndSet(null, failure);
                        free.release();
                    });
        }
        free.acquire(IN_FLIGHT);
        if (failed.get() != null) {
            throw new IllegalStateException("a lock could not be used", failed.get());
        }
        // Releases are sent and not awaited; this one comes behind them.
        client.lock(prefix + "last", OPTIONS.awaitRelease(true)).acquire().close();
    }

    /** Awaits that no renewal is due or under way: it is due when a third of the lease is over. */
    private static boolean isRenewed(Supplier<Duration> left) {
        Duration leastLeft = OPTIONS.lease().multipliedBy(2).dividedBy(3);
        return Await.until(PATIENCE, () -> left.get().compareTo(leastLeft) > 0);
    }

    private static void require(boolean kept, Supplier<String> otherwise) {
        if (!kept) {
            throw new IllegalStateException(otherwise.get());
        }
    }
}
