package dev.holdfast.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One question to all members of a quorum. It ends when all have answered or failed, or a grace after so many have
 * answered that the others change nothing. Thread-safe.
 */
final class Ballot<T> {
    private final QuorumMembers members;
    private final Predicate<QuorumMembers.Answers<T>> enough;
    private final Duration grace;
    private final ReentrantLock mutex = new ReentrantLock();
    private final List<@Nullable T> given;
    private final List<Throwable> failures = new ArrayList<>();
    private final CompletableFuture<QuorumMembers.Answers<T>> result = new CompletableFuture<>();
    private int ended;
    private boolean graced;

    Ballot(QuorumMembers members, Predicate<QuorumMembers.Answers<T>> enough, Duration grace) {
        this.members = members;
        this.enough = enough;
        this.grace = grace;
        this.given = new ArrayList<>(Collections.nCopies(members.size(), null));
    }

    CompletableFuture<QuorumMembers.Answers<T>> ask(Function<QuorumMember, ? extends CompletionStage<T>> question) {
        for (QuorumMember member : members.all()) {
            question.apply(member).whenComplete((answer, failure) -> {
                try {
                    answered(member.index(), answer, failure);
                } catch (Throwable broken) { // such as of memory: perhaps it was the last answer
                    result.completeExceptionally(broken);
                }
            });
        }
        return result;
    }

    private void answered(int member, @Nullable T answer, @Nullable Throwable failure) {
        QuorumMembers.Answers<T> now;
        boolean all;
        boolean waits;
        mutex.lock();
        try {
            ended++;
            if (failure == null) {
                given.set(member, answer);
            } else {
                failures.add(RedisErrors.unwrapped(failure));
            }
            now = answers();
            all = ended == members.size();
            waits = !all && !graced && now.count() >= members.majority() && enough.test(now);
            graced |= waits;
        } finally {
            mutex.unlock();
        }
        if (all || (waits && grace.isZero())) {
            result.complete(now);
        } else if (waits) {
            members.later(this::end, grace);
        }
    }

    private void end() {
        QuorumMembers.Answers<T> now;
        mutex.lock();
        try {
            now = answers();
        } finally {
            mutex.unlock();
        }
        result.complete(now);
    }

    private QuorumMembers.Answers<T> answers() {
        return new QuorumMembers.Answers<>(new ArrayList<>(given), List.copyOf(failures));
    }
}
