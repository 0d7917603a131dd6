package dev.holdfast;

import dev.holdfast.internal.Engine;
import java.util.List;
import java.util.Optional;

/**
 * One of many processes leads; the others wait in line.
 *
 * <pre>{@code
 * LeaderElection reports = client.election("reports");
 * try (Candidacy candidacy = reports.stand(term -> scheduler.start(term.token()), term -> scheduler.stop())) {
 *     serveUntilShutdown();
 * }
 * }</pre>
 *
 * <p>A term of leadership is a hold of the lock of that name ({@link LockClient#lock}), so everything documented for
 * holds is true of terms: {@link Term#token()} rises from term to term, a term is renewed while it lasts, and
 * {@link Term#isValid()} is false before another process can lead. A process that was stopped for longer than the lease
 * may still run after that; only a resource that checks the token is safe from it.
 *
 * <p>Followers wait like callers of a lock: one claim per client in the store. When a leader dies, the next in line
 * leads when the lease has run out (ZooKeeper: when its session has ended); when it resigns, immediately.
 *
 * <p>Candidates are served in the order of their arrival where the store keeps one ({@link Capabilities#fair()});
 * elsewhere a candidate whose term has ended waits for a second before it is a candidate again. Set a
 * lease, a {@link HoldOptions#maxHold() longest term} and other options with {@link LockClient#election(String,
 * HoldOptions)}.
 *
 * <p>{@link #leader()} returns the leader, {@link #status()} also how many candidates wait in line, and
 * {@link #candidates()} which candidates wait, where the store keeps their names.
 *
 * <p>Immutable and thread-safe; keeps nothing in the store by itself.
 */
public final class LeaderElection {
    private final Engine engine;
    private final DistributedLock lock;
    private final Candidacies candidacies;

    LeaderElection(Engine engine, DistributedLock lock, Candidacies candidacies) {
        if (lock.options().reentrant()) {
            throw new IllegalArgumentException("a term belongs to no thread, so '" + lock.name()
                    + "' cannot be re-entrant: leave reentrant(true) out");
        }
        this.engine = engine;
        this.lock = lock;
        this.candidacies = candidacies;
    }

    /** Its name, without the client's namespace; that of its lock. */
    public String name() {
        return lock.name();
    }

    /** How its terms behave. */
    public HoldOptions options() {
        return lock.options();
    }

    /**
     * Makes this client a candidate, also after each of its terms, until the candidacy is closed. A client has one candidacy
     * for a name at a time.
     *
     * @param listener what is done when a term begins and ends
     * @throws IllegalStateException if this client already has an open candidacy for this name
     * @throws ClientClosedException if the client is closed
     */
    @CheckReturnValue
    public Candidacy stand(LeaderListener listener) {
        return Candidacy.begin(engine, lock, candidacies, listener, false);
    }

    /** Makes this client a candidate, with two actions; as {@link #stand(LeaderListener)}. */
    @CheckReturnValue
    public Candidacy stand(LeaderAction elected, LeaderAction revoked) {
        return stand(new LeaderListener() {
            @Override
            public void onElected(Term term) throws Exception {
                elected.run(term);
            }

            @Override
            public void onRevoked(Term term) throws Exception {
                revoked.run(term);
            }
        });
    }

    /**
     * Makes this client a candidate without a listener: call {@link Candidacy#isLeader()} or
     * {@link Candidacy#awaitTerm()}.
     */
    @CheckReturnValue
    public Candidacy stand() {
        return stand(term -> {}, term -> {});
    }

    /**
     * Makes this client a candidate that works while it leads, as Curator's {@code LeaderSelector} does. The term ends when
     * the work returns or throws, and the candidacy goes to the end of the line. When the term ends earlier, because it
     * was lost, resigned or closed, the thread of the work is interrupted; no term begins before the work has returned. If
     * there is no other candidate, work that returns immediately runs again immediately.
     *
     * <pre>{@code
     * Candidacy candidacy = client.election("reports").lead(term -> {
     *     while (term.isValid()) {
     *         reports.writeNext(term.token());
     *     }
     * });
     * }</pre>
     *
     * @param work what the leader does, on a thread of the candidacy's own
     * @throws IllegalStateException if this client already has an open candidacy for this name
     * @throws ClientClosedException if the client is closed
     */
    @CheckReturnValue
    public Candidacy lead(LeaderAction work) {
        return Candidacy.begin(
                engine,
                lock,
                candidacies,
                term -> {
                    work.run(term);
                    term.resign();
                },
                true);
    }

    /**
     * The leader, as the store knows it.
     *
     * @throws HoldfastException as {@link DistributedLock#status()}
     */
    public Optional<LockStatus.Held> leader() {
        return status().grant();
    }

    /**
     * The leader, and how many candidates wait in line.
     *
     * @throws HoldfastException as {@link DistributedLock#status()}
     */
    public LockStatus status() {
        return lock.status();
    }

    /**
     * The candidates in the queue, in their order, without the leader; one for each client. Empty if the store does not keep
     * the names of waiters. SQLite, ZooKeeper and etcd keep them; the other stores count them ({@link #status()}).
     *
     * @throws HoldfastException as {@link DistributedLock#status()}
     */
    public Optional<List<LockWaiter>> candidates() {
        return engine.inspection()
                .waiters(name())
                .map(all -> all.stream()
                        .filter(waiter -> waiter.name().equals(name())) // a name may be a pattern
                        .toList());
    }

    @Override
    public String toString() {
        return "LeaderElection[" + lock.name() + " on " + engine.storeDescription() + "]";
    }
}
