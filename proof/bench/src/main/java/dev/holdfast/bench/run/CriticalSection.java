package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.run.LockChoice.Choice;

/** What a thread does while it holds the lock: it looks whether it is as alone as it should be, and lets time pass. */
final class CriticalSection {
    private final Orders orders;
    private final SharedPage page;
    private final Meter meter;

    CriticalSection(Orders orders, SharedPage page, Meter meter) {
        this.orders = orders;
        this.page = page;
        this.meter = meter;
    }

    /** Holds the lock that was asked for at one time and acquired at another. */
    void hold(Choice choice, long asked, long got) {
        switch (orders.load().locks()) {
            case OWN, OWN_SEVERAL, ONCE -> pass(got);
            case ONE, KEPT, ONE_SEVERAL -> write(asked, got);
            case ONE_MOSTLY_READ -> readOrWrite(choice.reads(), asked, got);
            case ONE_SEMAPHORE -> share(got);
            case OF_A_SERVICE, ZIPF -> occupy(choice.number(), got);
        }
    }

    private void write(long asked, long got) {
        long released = page.releasedAt();
        if (released - asked > 0 && got - released > 0 && page.releasedBy() != orders.worker()) {
            meter.time(Timing.HAND_OVER, got - released);
        }
        long before = page.counter();
        pass(got);
        page.counter(before + 1);
        meter.count(Count.UPDATES);
        page.releasing(orders.worker());
    }

    private void readOrWrite(boolean reads, long asked, long got) {
        if (!reads) {
            meter.time(Timing.WRITER, got - asked);
            write(asked, got);
            return;
        }
        long before = page.counter();
        pass(got);
        if (page.counter() != before) {
            meter.count(Count.OVERLAPS);
        }
    }

    private void share(long got) {
        if (page.enter() > Peer.PERMITS) {
            meter.count(Count.OVERLAPS);
        }
        pass(got);
        page.leave();
    }

    /** Each of many names has a holder count of its own. */
    private void occupy(int name, long got) {
        if (page.enter(name) > 1) {
            meter.count(Count.OVERLAPS);
        }
        pass(got);
        page.leave(name);
    }

    private void pass(long got) {
        Schedule.sleepUntil(got + orders.load().hold().toNanos());
    }
}
