package dev.holdfast.zookeeper;

import dev.holdfast.spi.support.ElapsedTime.Moment;
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
 *   client      a ───► answered ────────────── b ────────► answered
 *   follower       a has come                       │ passed on
 *   leader             ▲ ping: a is counted      ▼ answers b: the ping before it has come
 *                      │◄── half a tick, at most ──►│
 * </pre>
 *
 * Whatever was answered to this client at least half a tick (and, for a leader that pings late, a tenth more) before {@code b}
 * was sent is counted at the leader once {@code b} is answered, and not before it was sent: the session then lives at least
 * from the sending of {@code a} on for its time-out. Where requests come often, {@code a} is less than a tick before
 * {@code b}, and the session is good for time-out less tick from {@code b}: that is the lease, and {@code b} its beginning.
 * Where the last request was longer ago, the lease began as much earlier; another write some time after {@code b} makes up
 * for it. {@link Connection} asks for something now and then where nobody else does. The pings of the client library would
 * not do: after a stop of the process, nobody knows when the last one was sent, or came.
 *
 * <p>Opening a session, and coming back to it on another connection, are counted by the leader at once, which is to be
 * proved by a write like all else.
 *
 * <p>One thing is assumed: that the messages of leader and follower do not stand still in one direction alone for more than a
 * tenth of a tick.
 *
 * <p>The servers count on while this machine sleeps, so that its moments are of {@link dev.holdfast.spi.support.ElapsedTime}. Read
 * by any thread, written by the session's event thread alone.
 */
final class SessionProof {
    private static final int GRAINS = 16;
    /** More are never needed: one tick holds at most {@link #GRAINS}. */
    private static final int MOST = 2 * GRAINS;

    private final long tick;
    private final long behind;
    /** Answered requests, oldest first, at least a sixteenth of a tick apart. */
    private final Deque<Answered> requests = new ArrayDeque<>();

    private long counted;
    private volatile long begin;
    /**
     * When the last of those requests was answered, or the session was opened or connected again (then less {@link
     * #behind}); by {@code nanoTime}.
     */
    private volatile long newest;

    /**
     * A request.
     *
     * @param sent with all sleeps since: perhaps longer ago than it was, as the age of a lease has to be
     * @param answered by {@code nanoTime}: perhaps not as long ago as it was, as the time for a ping has to be
     */
    private record Answered(long sent, long answered) {}

    /**
     * @param tick of the servers, or longer
     * @param opened when the session was opened or connected again, at the earliest
     */
    SessionProof(Duration tick, Moment opened) {
        this.tick = tick.toNanos();
        this.behind = tick.toNanos() * 3 / 5;
        this.counted = opened.elapsed();
        this.begin = counted;
        this.newest = opened.nanoTime();
    }

    /** The beginning of the lease that is proved by now, with all sleeps since. */
    long begin() {
        return begin;
    }

    /** When something was answered last, or not much earlier, by {@code nanoTime}. */
    long newest() {
        return newest;
    }

    /** How long to delay a write that is made for the proof alone: sent now, it would prove hardly more. */
    long putOff(Moment now) {
        return now.elapsed() - begin <= tick ? 0 : Math.max(0, newest + behind - now.nanoTime());
    }

    /** The session is connected again, by a request sent no earlier than {@code at}; the next write proves it. */
    void reconnected(Moment at) {
        requests.clear();
        counted = later(counted, at.elapsed());
        newest = at.nanoTime() - behind;
    }

    /** A server has answered: the session is counted there, and at the leader when a later write is answered. */
    void answered(Moment sent, long now) {
        if (requests.isEmpty() || now - newest >= tick / GRAINS) {
            requests.addLast(new Answered(sent.elapsed(), now));
            newest = now;
        }
        if (requests.size() > MOST) {
            requests.removeFirst();
        }
    }

    /** A majority has agreed to a write. */
    void agreed(Moment sent, long now) {
        for (Answered oldest = requests.peekFirst();
                oldest != null && sent.nanoTime() - oldest.answered >= behind;
                oldest = requests.peekFirst()) {
            counted = later(counted, oldest.sent);
            requests.removeFirst();
        }
        answered(sent, now);
        long lasting = counted + tick;
        begin = later(begin, sent.elapsed() - lasting < 0 ? sent.elapsed() : lasting);
    }

    private static long later(long one, long two) {
        return one - two > 0 ? one : two;
    }
}
