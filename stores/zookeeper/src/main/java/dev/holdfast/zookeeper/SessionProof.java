package dev.holdfast.zookeeper;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How far the life of a session is proved: the moment from which it surely lives for its time-out, less a tick.
 *
 * <p>The leader ends a session, and counts from the last message of its client that it knows of. Two things may be
 * wrong with that.
 *
 * <p>It may no longer be the leader: cut off from the others, which have elected another, it goes on answering reads
 * and even {@code sync} for a while. It cannot answer a write, since that takes a majority. And a leader elected after
 * a majority has agreed to a write begins to count every session again, later than that write. So only writes prove
 * anything.
 *
 * <p>And it may know of fewer messages than one expects. For a client of the leader itself, every request counts. For a
 * client of a follower it does not: the leader carries out what the follower passes on without counting it, and learns
 * which clients sent messages from the follower's answers to its own pings, two in each tick. So a write that was
 * answered proves that the session lived, and not that it will live on: the link between the two servers may be cut
 * before the next ping. What it does prove is that the pings before it came through, since both travel on one
 * connection, in order:
 *
 * <pre>
 *   client      a ──────────────────────────── b ────────► answered
 *   follower      receives a                        │ passed on
 *   leader             ▲ ping: a is counted      ▼ answers b: the ping before it has come
 *                      │◄── half a tick, at most ──►│
 * </pre>
 *
 * Whatever this client sent at least half a tick (and, for a leader that pings late, a tenth more) before {@code b} is
 * counted at the leader once {@code b} is answered: the session then lives at least from {@code a} on for its time-out.
 * Where writes come often, {@code a} is less than a tick before {@code b}, and the session is good for time-out less
 * tick from {@code b}: that is the lease, and {@code b} its beginning. Where the write before was longer ago, the lease
 * began as much earlier; another some time after {@code b} makes up for it. The client library pings, too, at least
 * three times in a session's time-out, which bounds how long ago {@code a} can be.
 *
 * <p>Opening a session, and coming back to it on another connection, are counted by the leader at once, which is to be
 * proved by a write like all else.
 *
 * <p>All moments are of an {@link dev.holdfast.spi.support.ElapsedTime}: the servers count on while this machine sleeps. Read by
 * any thread, written by the session's event thread alone.
 */
final class SessionProof {
    private static final int GRAINS = 16;
    private static final Duration MOST_QUIET = Duration.ofSeconds(10);

    private final long tick;
    private final long behind;
    private final long quiet;
    /** When writes were sent that were answered, oldest first, some way apart. */
    private final Deque<Long> sent = new ArrayDeque<>();

    private long counted;
    private volatile long begin;
    private volatile long newest;

    /**
     * @param timeout of the session
     * @param tick of the servers, or longer
     * @param opened when the session was opened or connected again, at the earliest
     */
    SessionProof(Duration timeout, Duration tick, long opened) {
        this.tick = tick.toNanos();
        this.behind = tick.toNanos() * 3 / 5;
        this.quiet = Math.min(timeout.toNanos() / 3, MOST_QUIET.toNanos());
        this.counted = opened;
        this.begin = opened;
        this.newest = opened;
    }

    /** The beginning of the lease that is proved by now. */
    long begin() {
        return begin;
    }

    /** How long to delay a write that is made for the proof alone: sent now, it would prove hardly more. */
    long putOff(long now) {
        return now - begin <= tick ? 0 : Math.max(0, newest + behind - now);
    }

    /** The session is connected again, by a request sent no earlier than {@code at}; the next write proves it. */
    void reconnected(long at) {
        sent.clear();
        counted = later(counted, at);
        newest = at - behind;
    }

    /** A write was answered. */
    void answered(long at) {
        for (Long oldest = sent.peekFirst(); oldest != null && at - oldest >= behind; oldest = sent.peekFirst()) {
            counted = later(counted, oldest);
            sent.removeFirst();
        }
        counted = later(counted, at - behind - quiet);
        if (sent.isEmpty() || at - newest >= tick / GRAINS) {
            sent.addLast(at);
            newest = at;
        }
        long lasting = counted + tick;
        begin = later(begin, at - lasting < 0 ? at : lasting);
    }

    private static long later(long one, long two) {
        return one - two > 0 ? one : two;
    }
}
