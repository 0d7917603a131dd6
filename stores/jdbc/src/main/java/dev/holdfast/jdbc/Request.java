package dev.holdfast.jdbc;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.support.UnknownEnd;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** What a {@link ConnectionWorker} is asked for: something about one name, or about none. Run on the worker's thread. */
abstract class Request {
    final String what;
    final String name;
    long since = System.nanoTime();

    /** It was sent before, and nobody knows what came of that: its connection broke. */
    boolean mayBeDone;

    Request(String what, String name) {
        this.what = what;
        this.name = name;
    }

    abstract void run(LockRows table) throws SQLException;

    abstract void fail(HoldfastException failure);

    /**
     * Its connection broke.
     *
     * @param sentTwice the claims that may be carried out twice, to which it adds its own
     */
    void broke(Set<ClaimId> sentTwice) {
        mayBeDone = true;
    }

    /** Whether it may be sent again when nobody knows what came of it. */
    boolean mayRepeat() {
        return true;
    }

    /** Some work on a connection. */
    @FunctionalInterface
    interface Work<T> {
        T on(LockRows table) throws SQLException;
    }

    /** A claim, which may take a release of the same client into its step. */
    abstract static class Claiming extends Request {
        final Claim claim;

        Claiming(Claim claim) {
            super("claim", claim.name());
            this.claim = claim;
        }

        @Override
        final void broke(Set<ClaimId> sentTwice) {
            super.broke(sentTwice);
            sentTwice.add(claim.id());
        }

        @Override
        final void run(LockRows table) throws SQLException {
            run(table, null);
        }

        /** Whether the hold that was released stood. */
        abstract boolean run(LockRows table, @Nullable String released) throws SQLException;
    }

    /** A request whose answer is a value. */
    static class Asked<T> extends Request {
        private final Work<T> work;
        final CompletableFuture<T> answer = new CompletableFuture<>();

        Asked(String what, String name, Work<T> work) {
            super(what, name);
            this.work = work;
        }

        @Override
        void run(LockRows table) throws SQLException {
            answer.complete(work.on(table));
        }

        @Override
        void fail(HoldfastException failure) {
            answer.completeExceptionally(failure);
        }
    }

    /** One whose outcome is unknown when its connection breaks. */
    static final class AskedOnce<T> extends Asked<T> {
        AskedOnce(String what, String name, Work<T> work) {
            super(what, name, work);
        }

        @Override
        boolean mayRepeat() {
            return false;
        }
    }

    /** The end of somebody's grant. */
    static final class Break extends Request {
        private final long number;
        private final boolean now;
        private final String store;
        final CompletableFuture<Boolean> answer = new CompletableFuture<>();

        Break(String name, long number, boolean now, String store) {
            super("break", name);
            this.number = number;
            this.now = now;
            this.store = store;
        }

        /** A grant that is not there when it is broken once more was broken the first time, or was over before. */
        @Override
        void run(LockRows table) throws SQLException {
            boolean stood = table.breakGrant(name, number, now);
            if (stood || !mayBeDone) {
                answer.complete(stood);
            } else {
                answer.completeExceptionally(UnknownEnd.of(name, store, "broken"));
            }
        }

        @Override
        void fail(HoldfastException failure) {
            answer.completeExceptionally(failure);
        }
    }

    /** The end of a hold. */
    static final class Release extends Request {
        private final ClaimId id;
        private final String store;
        final CompletableFuture<Boolean> answer = new CompletableFuture<>();

        Release(String name, ClaimId id, String store) {
            super("release", name);
            this.id = id;
            this.store = store;
        }

        @Override
        void run(LockRows table) throws SQLException {
            report(table.release(name, id), mayBeDone);
        }

        /** A hold that is not there when it is released once more was released the first time, or was lost before. */
        private void report(boolean held, boolean mayBeDoneBefore) {
            if (held || !mayBeDoneBefore) {
                answer.complete(held);
            } else {
                answer.completeExceptionally(UnknownEnd.of(name, store, "released"));
            }
        }

        @Override
        void fail(HoldfastException failure) {
            answer.completeExceptionally(failure);
        }
    }

    /** A release and the claim behind it, in one step. */
    static final class Exchange extends Request {
        private final Release release;
        private final Claiming claim;

        Exchange(Release release, Claiming claim) {
            super("release and claim", release.name);
            this.release = release;
            this.claim = claim;
            this.since = release.since;
        }

        @Override
        void broke(Set<ClaimId> sentTwice) {
            super.broke(sentTwice);
            claim.broke(sentTwice);
        }

        /** If a later statement fails, an earlier one may have committed, and all are repeated. */
        @Override
        void run(LockRows table) throws SQLException {
            boolean mayBeDoneBefore = mayBeDone;
            mayBeDone = true;
            release.report(claim.run(table, release.id.value()), mayBeDoneBefore);
        }

        @Override
        void fail(HoldfastException failure) {
            release.fail(failure);
            claim.fail(failure);
        }
    }

    /** A task that may add requests, and goes before all that are in line. */
    static final class Before extends Request {
        private final Runnable task;

        Before(Runnable task) {
            super("", "");
            this.task = task;
        }

        @Override
        void run(LockRows table) {
            task.run();
        }

        /** A failure of the task is its own: requests of others are behind it. */
        void runTask(String store) {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                SqlSession.log(
                        System.Logger.Level.ERROR,
                        "a task before the requests to " + store + " failed; please report this",
                        e);
            }
        }

        @Override
        void fail(HoldfastException failure) {
            task.run();
        }
    }
}
