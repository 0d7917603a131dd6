package dev.holdfast.redis;

import dev.holdfast.ClientClosedException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.TimeSource;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The servers of a quorum, and how many of them must agree. Thread-safe. */
final class QuorumMembers {
    /** The reports of changes to the store. */
    interface Events {
        /** The number of ready members has changed; they may be enough or not. */
        default void changed() {}

        /** The Lettuce client was shut down. */
        default void shutDown(RuntimeException why) {}
    }

    /** How long to wait for a member when a majority has answered already. */
    static final Duration GRACE = Duration.ofMillis(250);

    /** How long a member sits out at least when a majority answers, but too few members know the longest lease. */
    private static final long UNKNOWN_REST_MILLIS = 60_000;

    private static final int MOST_CONNECT_TIMES = 3;

    private final List<QuorumMember> all;
    private final Settings settings;
    private final RedisErrors errors;
    private final ReentrantLock enrolment = new ReentrantLock();
    private volatile Events events = new Events() {};

    QuorumMembers(RedisClient client, RedisUrl url, Settings settings, RedisErrors errors) {
        this.settings = settings;
        this.errors = errors;
        List<QuorumMember> made = new ArrayList<>();
        for (int i = 0; i < url.servers().size(); i++) {
            made.add(new QuorumMember(this, i, client, url.servers().get(i), settings));
        }
        this.all = List.copyOf(made);
    }

    void listen(Events listener) {
        events = listener;
    }

    List<QuorumMember> all() {
        return all;
    }

    int size() {
        return all.size();
    }

    int majority() {
        return all.size() / 2 + 1;
    }

    TimeSource time() {
        return settings.time();
    }

    Duration timeout() {
        return settings.timeout();
    }

    RedisErrors errors() {
        return errors;
    }

    // ---- connecting ----

    /**
     * Connects to all, and returns once all are ready, or a majority is ready and the others have had a short grace.
     *
     * @return caveats that users must know of the servers
     * @throws dev.holdfast.HoldfastException if a member is refused, or too few answer
     */
    Set<String> connect() {
        List<CompletableFuture<ServerCheck>> first =
                all.stream().map(QuorumMember::connect).toList();
        Answers<ServerCheck> answers = await(ask(member -> first.get(member.index()), given -> true, GRACE));
        for (Throwable why : answers.failures()) {
            if (why instanceof StoreRefusedException refused) {
                throw refused;
            }
        }
        answers.orThrow(this);
        Set<String> caveats = new LinkedHashSet<>();
        for (int i = 0; i < all.size(); i++) {
            ServerCheck check = answers.of(i);
            if (check != null) {
                String member = RedisUrl.describe(all.get(i).uri());
                check.caveats().forEach(caveat -> caveats.add(member + ": " + caveat));
            }
        }
        return caveats;
    }

    private <T> T await(CompletableFuture<T> answer) {
        try {
            return answer.get(MOST_CONNECT_TIMES * settings.timeout().toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw errors.of(e);
        } catch (ExecutionException | TimeoutException e) {
            throw errors.of(e);
        }
    }

    /** Notes which server a member is, and refuses one that is another member under a second name. */
    void enrol(QuorumMember member, String runId) {
        enrolment.lock();
        try {
            for (QuorumMember other : all) {
                if (other != member && !runId.isEmpty() && other.runId().equals(runId)) {
                    throw new StoreRefusedException(errors.store() + " names one server twice: "
                            + RedisUrl.describe(member.uri()) + " and " + RedisUrl.describe(other.uri())
                            + " are the same process; each member of a quorum must be a server of its own");
                }
            }
            member.setRunId(runId);
        } finally {
            enrolment.unlock();
        }
    }

    /**
     * How many milliseconds a member must sit out that may have lost its data: the longest lease that the others were
     * ever asked for. Every grant was confirmed by a majority, so a majority without this member knows its lease. If
     * fewer know, since others have lost their data as well, it is a minute at least. Empty if fewer answer: the silent
     * members may know of a longer lease.
     *
     * @param known the longest lease that the member itself remembers
     */
    CompletionStage<Optional<Long>> restOf(QuorumMember member, long known) {
        return ask(
                        other -> other == member
                                ? CompletableFuture.failedFuture(new StoreUnavailableException("it asks itself"))
                                : other.memory(),
                        given -> true,
                        GRACE)
                .thenApply(answers -> {
                    if (answers.count() < majority()) {
                        return Optional.empty();
                    }
                    long longest = known;
                    for (int i = 0; i < all.size(); i++) {
                        QuorumMember.Memory memory = answers.of(i);
                        longest = Math.max(longest, memory == null ? 0 : memory.longestMillis());
                    }
                    return Optional.of(
                            answers.count(QuorumMember.Memory::isWhole) >= majority()
                                    ? longest
                                    : Math.max(longest, UNKNOWN_REST_MILLIS));
                });
    }

    void ready() {
        events.changed();
    }

    void gone() {
        events.changed();
    }

    void shutDown(RuntimeException why) {
        events.shutDown(why);
    }

    /** Whether enough of them are connected to grant anything. */
    boolean areEnoughReady() {
        return all.stream().filter(QuorumMember::isReady).count() >= majority();
    }

    // ---- asking all ----

    /** The answers of the members to one question. */
    static final class Answers<T> {
        private final List<@Nullable T> given;
        private final List<Throwable> failures;

        Answers(List<@Nullable T> given, List<Throwable> failures) {
            this.given = given;
            this.failures = failures;
        }

        /** The answer of a member; null if it has not answered. */
        @Nullable
        T of(int member) {
            return given.get(member);
        }

        /** How many have answered. */
        int count() {
            return count(any -> true);
        }

        /** How many have answered so. */
        int count(Predicate<T> which) {
            int found = 0;
            for (T each : given) {
                found += each != null && which.test(each) ? 1 : 0;
            }
            return found;
        }

        /** How many have not answered. */
        int missing() {
            return given.size() - count();
        }

        List<Throwable> failures() {
            return failures;
        }

        /** These answers, if a majority has given one. */
        Answers<T> orThrow(QuorumMembers members) {
            if (count() < members.majority()) {
                throw members.tooFew(count(), failures);
            }
            return this;
        }
    }

    /**
     * Asks all at the same time.
     *
     * @param enough whether the answers so far, of a majority at least, decide
     * @param grace how long to wait for the others then
     */
    <T> CompletableFuture<Answers<T>> ask(
            Function<QuorumMember, ? extends CompletionStage<T>> question,
            Predicate<Answers<T>> enough,
            Duration grace) {
        return new Ballot<>(this, enough, grace).ask(question);
    }

    /** The failure when too few have answered: then nothing is known of any lock. */
    RuntimeException tooFew(int answered, List<Throwable> failures) {
        int refusals = 0;
        for (Throwable each : failures) {
            if (each instanceof ClientClosedException closed) {
                return closed;
            }
            refusals += each instanceof StoreRefusedException ? 1 : 0;
        }
        String why = "only " + answered + " of the " + size() + " members of " + errors.store() + " answered, and "
                + majority() + " must: "
                + failures.stream()
                        .map(each -> String.valueOf(each.getMessage()))
                        .reduce((one, two) -> one + "; " + two)
                        .orElse("the others were too slow");
        Throwable cause = failures.isEmpty() ? null : failures.get(0);
        return refusals > size() - majority()
                ? new StoreRefusedException(why, cause)
                : new StoreUnavailableException(why, cause);
    }

    /** Runs a task later, unless the timer has ended with the client. */
    TimeSource.Scheduled later(Runnable task, Duration delay) {
        try {
            return settings.time().schedule(task, delay);
        } catch (IllegalStateException | RejectedExecutionException ended) {
            return () -> {};
        }
    }

    void close(RuntimeException why) {
        all.forEach(member -> member.close(why));
    }

    void close() {
        all.forEach(QuorumMember::close);
    }
}
