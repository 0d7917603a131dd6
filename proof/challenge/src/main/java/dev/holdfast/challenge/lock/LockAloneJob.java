package dev.holdfast.challenge.lock;

import dev.holdfast.challenge.workload.JobOfPeriod;
import dev.holdfast.spi.Mode;

/** A job under a lock alone: nothing records that the period is done, so that the next worker does it again. */
record LockAloneJob(AttackedLock lock) implements AttackedLock {
    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        return lock.turn(
                mode,
                grip -> work.run(new Grip(
                        grip.token(), System.currentTimeMillis() / JobOfPeriod.PERIOD.toMillis(), grip.valid())));
    }

    @Override
    public void close() throws Exception {
        lock.close();
    }
}
