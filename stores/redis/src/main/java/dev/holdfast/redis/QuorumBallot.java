package dev.holdfast.redis;

import dev.holdfast.StoreUnavailableException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The answers of the members of a quorum in one round, and the outcome that follows.
 *
 * <pre>
 *   ASKED ──► GRANTED ──► CONFIRMED   has the number of the grant
 *     │          └──────► FAILED      ended, or no answer, while its number was raised
 *     ├─────► REFUSED
 *     └─────► FAILED
 * </pre>
 *
 * <p>Guarded by the mutex of its {@link QuorumRound}.
 */
final class QuorumBallot {
    /** The answer of a member so far. */
    enum Vote {
        ASKED,
        GRANTED,
        CONFIRMED,
        REFUSED,
        FAILED
    }

    private static final long TEN_YEARS = TimeUnit.DAYS.toMicros(3_652);
    private static final long YEAR_2026 = TimeUnit.SECONDS.toMicros(1_767_225_600);

    private final int majority;
    private final Vote[] votes;
    private final long[] numbers;
    private final Map<String, Integer> rivals = new HashMap<>();
    private final List<Throwable> failures = new ArrayList<>();
    /** The number of the grant; 0 until a majority has granted. */
    private long number;

    QuorumBallot(int members, int majority) {
        this.majority = majority;
        this.votes = new Vote[members];
        Arrays.fill(votes, Vote.ASKED);
        this.numbers = new long[members];
    }

    // ---- answers ----

    void granted(int member, long granted) {
        votes[member] = Vote.GRANTED;
        numbers[member] = granted;
    }

    /** @param rival the round of another client that this member has granted the lock to; null if unknown */
    void refused(int member, @Nullable String rival) {
        votes[member] = Vote.REFUSED;
        if (rival != null) {
            rivals.merge(rival, 1, Integer::sum);
        }
    }

    void confirmed(int member, long raised) {
        votes[member] = Vote.CONFIRMED;
        numbers[member] = raised;
    }

    void failed(int member, Throwable why) {
        votes[member] = Vote.FAILED;
        failures.add(why);
    }

    /**
     * Waits for no more answers.
     *
     * @param atEnd whether to stop waiting also for members that are to raise their number
     */
    void failSilent(boolean atEnd, IntFunction<Throwable> why) {
        for (int i = 0; i < votes.length; i++) {
            if (votes[i] == Vote.ASKED || (atEnd && votes[i] == Vote.GRANTED)) {
                failed(i, why.apply(i));
            }
        }
    }

    /**
     * Once a majority has granted, the highest of their numbers is that of the grant.
     *
     * @return the members with a lower number, each once: theirs is to be raised
     */
    List<Integer> fixNumber() {
        List<Integer> toRaise = new ArrayList<>();
        if (number == 0 && count(Vote.GRANTED) >= majority) {
            failFarAhead();
        }
        if (number == 0 && count(Vote.GRANTED) >= majority) {
            number = Arrays.stream(numbers).max().orElse(0);
        }
        for (int i = 0; i < votes.length && number != 0; i++) {
            if (votes[i] == Vote.GRANTED && numbers[i] >= number) {
                votes[i] = Vote.CONFIRMED;
            } else if (votes[i] == Vote.GRANTED && numbers[i] > 0) {
                numbers[i] = 0; // asked to raise it
                toRaise.add(i);
            }
        }
        return toRaise;
    }

    /** The other members would refuse such a number, as number.lua says: the clock of its member is wrong. */
    private void failFarAhead() {
        long lowest = Arrays.stream(numbers).filter(given -> given > 0).min().orElse(0);
        for (int i = 0; i < votes.length; i++) {
            if (numbers[i] > Math.max(lowest, YEAR_2026) + TEN_YEARS) {
                numbers[i] = 0;
                failed(
                        i,
                        new StoreUnavailableException(
                                "a member of the quorum gives numbers that are more than ten years"
                                        + " ahead of another's: one of their clocks is wrong; set it"));
            }
        }
    }

    // ---- the outcome ----

    /** The outcome of the round; null while it is open. */
    QuorumRound.@Nullable Outcome outcome() {
        if (count(Vote.CONFIRMED) >= majority) {
            return QuorumRound.Outcome.WON;
        }
        if (votes.length - count(Vote.REFUSED) - count(Vote.FAILED) >= majority) {
            return null; // may still be won
        }
        int failed = count(Vote.FAILED);
        int most = rivals.values().stream().mapToInt(each -> each).max().orElse(0);
        if (most >= majority) {
            return QuorumRound.Outcome.HELD;
        }
        if (votes.length - failed < majority) {
            return QuorumRound.Outcome.UNAVAILABLE;
        }
        if (answered() < majority) {
            return null; // the members that have not answered decide
        }
        return most + failed >= majority ? QuorumRound.Outcome.PERHAPS_HELD : QuorumRound.Outcome.SPLIT;
    }

    /** Whether the members without an answer are fewer than a majority. */
    boolean isMinoritySilent() {
        return count(Vote.ASKED) + count(Vote.FAILED) < majority;
    }

    /** How many members have answered, with a grant or a refusal. */
    int answered() {
        return votes.length - count(Vote.FAILED) - count(Vote.ASKED);
    }

    long number() {
        return number;
    }

    List<Throwable> failures() {
        return failures;
    }

    /** Enters each member that has the number of the grant. */
    void enterConfirmed(QuorumHold hold) {
        for (int i = 0; i < votes.length; i++) {
            if (votes[i] == Vote.CONFIRMED) {
                hold.joined(i, numbers[i]);
            }
        }
    }

    /** The answer of each member so far. */
    List<Vote> votes() {
        return List.of(votes);
    }

    private int count(Vote vote) {
        int found = 0;
        for (Vote each : votes) {
            found += each == vote ? 1 : 0;
        }
        return found;
    }
}
