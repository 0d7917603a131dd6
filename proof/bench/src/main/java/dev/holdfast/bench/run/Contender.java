package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.Peer.PeerLock;
import dev.holdfast.bench.run.LockChoice.Choice;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * One thread of a round. It takes its turns, as the {@link Schedule} says, until the round is over, and stays in line for
 * the last one: a wait that began in the round counts with its whole length, however long after the end it ended. A turn
 * that was due and not begun counts with what it had waited by the end.
 */
final class Contender {
    private static final long KEPT_LONGER_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    private final Orders orders;
    private final SplittableRandom random = new SplittableRandom();
    private final Meter meter = new Meter();
    private final LockChoice choice;
    private final CriticalSection section;

    Contender(Orders orders, SharedPage page, Peer peer, int client, int thread) {
        this.orders = orders;
        this.choice = new LockChoice(orders, peer, client, thread, random);
        this.section = new CriticalSection(orders, page, meter);
    }

    /** Opens what it needs; on the thread that will run. */
    void open() throws Exception {
        TimerSlack.finest();
        choice.open();
        if (orders.isToKeep()) {
            choice.next().lock().acquire();
        }
    }

    /** Takes turns from one {@link System#nanoTime} to another. */
    void run(long from, long until) throws Exception {
        if (orders.isToKeep()) {
            Schedule.sleepUntil(until + KEPT_LONGER_NANOS);
            choice.next().lock().release();
        } else {
            turns(from, until);
        }
        choice.close();
    }

    private void turns(long from, long until) throws Exception {
        Load load = orders.load();
        Schedule.sleepUntil(from);
        Schedule schedule = new Schedule(from, load.pace(), load.hold().toNanos(), random);
        for (long intended = schedule.next(); intended - until < 0; intended = schedule.next()) {
            Schedule.sleepUntil(intended);
            long asked = System.nanoTime();
            if (asked - until < 0) {
                turn(intended, asked, until);
            } else {
                meter.time(Timing.WAIT, until - intended);
                meter.count(Count.UNSERVED);
            }
        }
    }

    private void turn(long intended, long asked, long until) throws Exception {
        Choice next = choice.next();
        boolean acquired = acquire(next.lock());
        long got = System.nanoTime();
        meter.time(Timing.WAIT, got - intended);
        meter.time(Timing.CALL, got - asked);
        meter.count(Count.ALL);
        if (got - until < 0) {
            meter.turn();
        }
        if (acquired) {
            section.hold(next, asked, got);
            next.lock().release();
        } else {
            meter.count(Count.REFUSED);
        }
        choice.done(next);
    }

    private boolean acquire(PeerLock lock) throws Exception {
        if (orders.load().isTry()) {
            return lock.tryAcquire(orders.load().patience());
        }
        lock.acquire();
        return true;
    }

    Tally tally() {
        return orders.isToKeep() ? Tally.empty() : meter.tally();
    }
}
