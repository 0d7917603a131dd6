package dev.holdfast.internal;

import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import dev.holdfast.spi.Mode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One name of one client: a side for each way to hold it, and what these have in common.
 *
 * <pre>
 *                      ┌── writers: ExclusiveQueue ── one claim or grant for all who wait here
 *   LocalLock ─ mutex ─┼── readers: SharedQueue ──┐
 *                      └── permits: SharedQueue ──┴── any number of grants
 * </pre>
 *
 * <p>All of it changes under one small mutex, in steps. Nothing is called under it that may wait or call back: each step adds
 * what is to be done to its {@link Effects}, and that is run after the mutex is free.
 *
 * <p>No claim overtakes a release of its own client: it would find the lock taken by the very client that has just given it
 * back. So a claim waits for all releases of the name that are under way, of whichever side; and a grant that only lingers,
 * or is retained, goes back before a claim of another side is sent.
 *
 * <p>The lock is retired once no side is of use any more; whoever comes later gets a new one. Thread-safe.
 */
final class LocalLock implements Effects.Effect {
    private static final LockMode[] KINDS = LockMode.values();

    /** A claim, or a question, and the releases that it waits for. */
    private record Behind(List<GrantState> releases, Effects.Effect claim) {}

    final Engine engine;
    final LockName name;
    final ReentrantLock mutex = new ReentrantLock();

    // Written under the mutex.
    volatile @Nullable ExclusiveQueue writers;
    private volatile @Nullable SharedQueue readers;
    private volatile @Nullable SharedQueue permits;

    // Guarded by the mutex.
    private List<GrantState> releases = Collections.emptyList(); // until there is one: many locks may be held
    private List<Behind> behind = Collections.emptyList();
    /** It has no use any more; whoever comes makes a new lock. */
    boolean retired;

    /** A lock with the one side that is wanted. */
    LocalLock(Engine engine, LockName name) {
        this.engine = engine;
        this.name = name;
        newSide(name);
    }

    // ---- its sides ----

    /** Those who hold it so, or want to; null if there was none yet. */
    @Nullable
    WaitQueue side(LockMode kind) {
        return switch (kind) {
            case EXCLUSIVE -> writers;
            case SHARED -> readers;
            case PERMITS -> permits;
        };
    }

    /** The same; made if there is none. A retired lock has sides that take nobody in. */
    WaitQueue side(LockName wanted) {
        WaitQueue there = side(wanted.mode().kind());
        return there != null
                ? there
                : read(() -> {
                    WaitQueue now = side(wanted.mode().kind());
                    return now == null ? newSide(wanted) : now;
                });
    }

    private WaitQueue newSide(LockName wanted) {
        if (wanted.mode().kind() == LockMode.EXCLUSIVE) {
            ExclusiveQueue made = new ExclusiveQueue(this, wanted);
            writers = made;
            return made;
        }
        SharedQueue made = new SharedQueue(this, wanted);
        if (wanted.mode().kind() == LockMode.SHARED) {
            readers = made;
        } else {
            permits = made;
        }
        return made;
    }

    Stream<WaitQueue> sides() {
        return Stream.of(KINDS).map(this::side).filter(Objects::nonNull);
    }

    // ---- steps ----

    /**
     * Begins a step: takes the mutex, until the effects are closed; then what the step has decided is done. Each change of
     * state of the lock is such a step.
     *
     * <pre>{@code
     * try (Effects then = lock.step()) {
     *     // changes, under the mutex
     * }
     * }</pre>
     */
    Effects step() {
        Effects then = effects(Effects.TRIES);
        mutex.lock();
        return then;
    }

    /** Made again after an Error, such as of memory: who is called back is not called twice. */
    private Effects effects(int furtherTries) {
        try {
            return new Effects(this);
        } catch (Error noMemory) {
            if (furtherTries == 0) {
                throw noMemory;
            }
            return effects(furtherTries - 1);
        }
    }

    /**
     * Makes a step that may decide what becomes of a grant. If an Error ends it half-way, what nobody holds goes back, because
     * nothing may come any more that would end it.
     */
    void transition(Consumer<Effects> step) {
        try (Effects then = step()) {
            try {
                step.accept(then);
            } catch (Throwable broken) {
                Effects.surely(() -> sides().forEach(side -> side.endUnheld(then)));
                throw broken;
            }
        }
    }

    /** Reads under the mutex, where nothing is to be done after it; it may be held already. */
    <T> T read(Supplier<T> what) {
        mutex.lock();
        try {
            return what.get();
        } finally {
            mutex.unlock();
        }
    }

    /** One side is of no use any more. Where none is, the lock is not either. Under the mutex. */
    void retireIfUnused(Effects then) {
        boolean unused = !retired
                && releases.isEmpty()
                && (readers == null || readers.isUnused())
                && (permits == null || permits.isUnused());
        if (unused) {
            then.reserve();
            if (writers == null || writers.retire(then)) {
                retired = true;
                then.add(this);
            }
        }
    }

    /** It is forgotten: nobody wants it any more. After what else its last step does, because until then the client is not quiet. */
    @Override
    public void run() {
        engine.locks.retired(this);
    }

    /** Ends it with its client: waiters fail, holds are lost, grants are given back. */
    void shutDown(Throwable closed) {
        Effects ends = new Effects(); // each runs though another throws
        sides().forEach(side -> {
            ends.add(() -> transition(then -> side.shutDown(closed, then)));
            ends.add(side::forgetOwners);
            ends.add(side);
        });
        ends.run();
    }

    // ---- claims, behind the releases of their own client; under the mutex ----

    /** Sends a claim, before its side takes it for sent. What another side does not use goes back first. */
    void claim(WaitQueue by, Effects.Effect sending, Effects then) {
        for (LockMode kind : KINDS) {
            WaitQueue side = side(kind);
            if (side != null && side != by) {
                side.giveUnusedBack(true, then);
            }
        }
        follow(sending, then);
    }

    /**
     * The last thing of each step: readers who waited for a writer of this client to claim, or to leave, do so now. No
     * change by which they may is missed, since none comes otherwise than before or within a step.
     */
    void readersMayFollow(Effects then) {
        SharedQueue side = readers;
        if (side != null && !side.waiters.isEmpty()) {
            side.nextIfIdle(then);
        }
    }

    private void follow(Effects.Effect claim, Effects then) {
        if (releases.isEmpty()) {
            then.add(claim);
        } else {
            behind = roomFor(behind);
            behind.add(new Behind(new ArrayList<>(releases), claim));
        }
    }

    private static <T> List<T> roomFor(List<T> list) {
        return list.isEmpty() ? new ArrayList<>(1) : list;
    }

    /** Completes behind the release of what lingers here, and of what is going back. What is retained stays. */
    CompletableFuture<Void> behindReleases() {
        CompletableFuture<Void> behindThem = new CompletableFuture<>();
        transition(then -> {
            sides().forEach(side -> side.giveUnusedBack(false, then));
            follow(() -> behindThem.complete(null), then);
        });
        return behindThem;
    }

    /**
     * Gives a grant back; false if it was lost in this moment: its loss follows, and the lock goes on from there.
     *
     * @param closer completes with the store's answer, if it goes back; null if nobody waits for that
     */
    boolean giveBack(
            GrantState grant, @Nullable HoldState last, @Nullable CompletableFuture<Boolean> closer, Effects then) {
        CompletableFuture<Boolean> answer = closer == null ? new CompletableFuture<>() : closer;
        Effects.Effect release = new Effects.Release(this, grant, last, answer);
        then.reserve();
        releases = roomFor(releases);
        releases.add(grant);
        boolean given = false;
        try {
            given = grant.giveBack();
        } finally {
            if (!given) {
                releases.remove(grant);
            }
        }
        if (given) {
            then.add(release);
        }
        return given;
    }

    /** The release of a grant was sent, or answered where that counts. Of the claims that follow, writers' are first. */
    void claimsMayFollow(GrantState released) {
        transition(then -> {
            if (!releases.remove(released)) {
                return; // they did before
            }
            WaitQueue side = released.owner;
            try {
                if (side == writers) {
                    side.next(then);
                }
            } finally {
                claimsFollow(released, then);
            }
            if (side != writers) {
                side.next(then);
            }
        });
    }

    private void claimsFollow(GrantState released, Effects then) {
        for (int i = 0; i < behind.size(); ) {
            Behind next = behind.get(i);
            next.releases.remove(released);
            if (next.releases.isEmpty()) {
                then.reserve();
                behind.remove(i);
                then.add(next.claim);
            } else {
                i++;
            }
        }
    }

    // ---- what holders do ----

    /**
     * Closes a hold, or one entry of a re-entrant one.
     *
     * @param as which kind of entry; the last exclusive one closed before the last shared one leaves a reader
     */
    void close(HoldState closing, LockMode as) {
        try {
            StackRoom.forStep();
        } catch (StackOverflowError full) { // the timer's thread has room
            closeLater(closing, as, full);
            return;
        }
        // first: what fails once the last entry is left, no thread could do again
        CompletableFuture<Boolean> givenBack = closing.options.awaitRelease() ? new CompletableFuture<>() : null;
        if (leave(closing, as)) {
            try {
                end(closing, givenBack);
            } catch (Error broken) {
                if (closing.isThreadBound()) { // its thread would not find it again to unlock
                    closing.closeLater();
                }
                throw broken;
            }
            if (givenBack != null) {
                // returns when the release is confirmed or has failed, or if there is none; a failure is logged, and
                // the lease ends the grant
                engine.environment.awaiting().accept(givenBack);
            }
        }
        if (closing.isLost()) {
            throw closing.lostException();
        }
    }

    /** Only the owning thread counts entries, and it must not find the hold again that is about to end. */
    private static void closeLater(HoldState closing, LockMode as, StackOverflowError full) {
        StackRoom.forTask();
        if (closing.isThreadBound() && !closing.isLastEntry()) {
            if (closing.becomesReaderBy(as)) {
                throw full;
            }
            closing.exit(as);
            return;
        }
        closing.closeLater();
        if (closing.isThreadBound()) {
            closing.pin(closing.anchor()); // its caller may drop it before the timer comes to it
            closing.exit(as);
            closing.grant.owner.removeOwner(closing);
        }
    }

    /** Leaves one entry of it; whether it was the last, and the hold is to be ended. */
    private boolean leave(HoldState closing, LockMode as) {
        if (!closing.isThreadBound()) {
            return true;
        }
        if (closing.becomesReaderBy(as)) {
            readOn(closing);
        }
        return closing.exit(as);
    }

    /**
     * Its thread leaves the one exclusive entry, and goes on to read. An Error meanwhile is no reason to stay: the caller would
     * close again, and leave an entry that is another's.
     */
    private void readOn(HoldState held) {
        try {
            downgrade(held);
        } catch (Throwable broken) {
            Log.warn(() -> "an error came while the writer of '" + name + "' on " + engine.store.description()
                    + " became a reader: other readers may have to wait until it is closed; see the cause: " + broken);
        }
    }

    /**
     * Ends a hold of which nobody has an entry any more, or that no caller received, and hands its grant on or releases it; waits
     * for nothing, and throws no loss. A grant that the renewer has found lost by now makes the hold lost, even where its
     * {@link #grantLost} is only on its way.
     *
     * @param givenBack completes with the store's answer if the grant is released, with false if it is not; null if nobody waits
     *     for that
     */
    void end(HoldState closing, @Nullable CompletableFuture<Boolean> givenBack) {
        if (closing.isThreadBound()) {
            HoldHandle kept = closing.anchor(); // which unlock() alone does not refer to
            closing.grant.owner.disown(closing);
            closing.pin(kept); // as one that no thread owns: until it is known whether it was closed in time
        }
        engine.renewer.examine(closing.grant); // a deadline that passed unnoticed counts before the close
        transition(then -> closing.grant.owner.endHold(closing, givenBack, then));
    }

    /** Makes an exclusive hold a shared one, in place; false if it is not open and surely held. */
    boolean downgrade(HoldState held) {
        try (Effects then = step()) {
            if (!(held.grant.owner instanceof ExclusiveQueue from)) {
                throw new IllegalStateException("only an exclusive hold can become a shared one: '" + name + "'");
            }
            return from.downgrade(held, (SharedQueue) side(name.as(Mode.SHARED)), then);
        }
    }

    /** A holder asks to be notified when others wait. */
    void watch(HoldState held) {
        try (Effects then = step()) {
            held.grant.owner.watch(held, then);
        }
    }

    // ---- what the store and the renewer report of its grants ----

    /** Does something short with each open hold under a grant, while it cannot end. */
    void withHoldsOf(GrantState grant, Consumer<HoldState> action) {
        read(() -> {
            grant.owner.forEachHoldOf(grant, action);
            return grant;
        });
    }

    /**
     * Stops renewing for this hold, provided that it is still open; false if not, or if that was decided before. The
     * grant runs out unless others hold by it.
     */
    boolean stopRenewal(HoldState hold, Loss.Cause cause) {
        return read(() -> hold.grant.owner.stopRenewal(hold, cause));
    }

    /** Other clients wait, as the store reports. */
    void wanted(GrantState grant) {
        transition(then -> grant.owner.wanted(grant, then));
    }

    /** The renewer found that a grant has ended. */
    void grantLost(GrantState lost, Loss.Cause cause) {
        transition(then -> lost.owner.grantLost(lost, cause, then));
    }
}
