package dev.holdfast.testkit;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A claim that lives longer than the connection to its store: when the store goes away its place there is given up, and
 * it is made again when the store is back. Thread-safe.
 */
final class WaitingClaim implements Pending {
    /** Hears the answer, and delivers it by {@link #complete}, immediately or later. */
    interface Answered {
        /** The store has answered, or failed. */
        void answered(WaitingClaim claim, Optional<Grant> answer, @Nullable Throwable failure);
    }

    final Claim claim;

    private final Store store;
    private final Answered answered;
    private final Answer answer;
    private final ReentrantLock mutex = new ReentrantLock();
    private @Nullable Asked sent;

    /** A claim that has not been sent. */
    WaitingClaim(Claim claim, Answer answer, Store store, Answered answered) {
        this.claim = claim;
        this.answer = answer;
        this.store = store;
        this.answered = answered;
    }

    /** Sends it, the first time or again. */
    void send() {
        Asked now = Asked.of(store, claim);
        mutex.lock();
        try {
            sent = now;
        } finally {
            mutex.unlock();
        }
        now.answer().whenComplete((grant, failure) -> {
            Optional<Grant> got = grant == null ? Optional.empty() : grant;
            if (failure != null || got.isPresent() || isSentAs(now)) {
                answered.answered(this, got, failure);
            }
        });
    }

    /** The connection breaks: the store forgets that it waits. */
    void disconnect() {
        Pending before;
        mutex.lock();
        try {
            before = sent;
            sent = null;
        } finally {
            mutex.unlock();
        }
        if (before != null) {
            before.cancel();
        }
    }

    void complete(Optional<Grant> got, @Nullable Throwable failure) {
        if (failure == null) {
            got.ifPresentOrElse(answer::granted, answer::refused);
        } else {
            answer.failed(failure);
        }
    }

    @Override
    public void cancel() {
        Pending now;
        mutex.lock();
        try {
            now = sent;
        } finally {
            mutex.unlock();
        }
        if (now != null) {
            now.cancel();
        } else {
            answered.answered(this, Optional.empty(), new StoreUnavailableException(FaultyStore.AWAY));
        }
    }

    private boolean isSentAs(Asked asked) {
        mutex.lock();
        try {
            return sent == asked;
        } finally {
            mutex.unlock();
        }
    }
}
